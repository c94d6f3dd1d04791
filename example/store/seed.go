package store

import "github.com/gqlresilience/gqlresilience/example/graph/model"

func firstOrders() []model.Order {
	return []model.Order{
		{
			ID: "1001", Customer: "Mia", Address: "3 Harbour Lane, Bristol", Weight: 2.4,
			Status: model.OrderStatusPending,
			Items:  []*model.OrderItem{{Sku: "tuna-85", Name: "Tuna in jelly, 85 g", Quantity: 24, Price: 1.15}},
		},
		{
			ID: "1002", Customer: "Jonas", Address: "Lindenallee 12, Leipzig", Weight: 4.2,
			Status: model.OrderStatusPending,
			Items:  []*model.OrderItem{{Sku: "kitten-4000", Name: "Kitten biscuits, 4 kg", Quantity: 1, Price: 27.9}},
		},
		{
			ID: "1003", Customer: "Chiara", Address: "Via Roma 8, Torino", Weight: 6.9,
			Status: model.OrderStatusPending,
			Items: []*model.OrderItem{
				{Sku: "salmon-400", Name: "Salmon pâté, 400 g", Quantity: 12, Price: 2.6},
				{Sku: "senior-2000", Name: "Senior biscuits, 2 kg", Quantity: 1, Price: 16.5},
			},
		},
		{
			ID: "1004", Customer: "Anouk", Address: "5 Rue des Lices, Rennes", Weight: 0.3,
			Status: model.OrderStatusPending,
			Items:  []*model.OrderItem{{Sku: "treats-60", Name: "Chicken treats, 60 g", Quantity: 5, Price: 1.99}},
		},
		{
			ID: "1005", Customer: "Piet", Address: "Prinsengracht 260, Amsterdam", Weight: 21.5,
			Status: model.OrderStatusPending,
			Items: []*model.OrderItem{
				{Sku: "adult-10000", Name: "Adult biscuits, 10 kg", Quantity: 2, Price: 54},
				{Sku: "treats-60", Name: "Chicken treats, 60 g", Quantity: 20, Price: 1.79},
			},
		},
	}
}
