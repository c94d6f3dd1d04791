// Package model has Go members that reflection takes for others than gqlgen's config binds.
package model

import "context"

type Order struct {
	ID       string
	Buyer    OldBuyer // Customer is bound, not this
	Customer *Customer
	Quote    string // ComputeQuote is bound, not this
	Strict   int    // GetStrict is bound, not this
	Renamed  string `bind:"tagged"`
}

type OldBuyer struct{ Name string }

func (*Order) ComputeQuote(context.Context) (int, error) { return 1, nil }
func (*Order) Label(short *bool) string                  { return "" }
func (*Order) GetStrict() int                            { return 1 }
func (*Order) Tagged() string                            { return "" }
func (*Order) MethodResult() []*Line                     { return nil }
func (*Order) Maybe() (string, bool)                     { return "", false }

type Line struct{ Text string }

type Customer struct{}

func (*Customer) Name(context.Context) (string, error) { return "", nil }

type OrderList []*Order

func (o OrderList) Items() []*Order { return o }
func (o OrderList) Total() int      { return len(o) }

type Props map[string]int

func (p Props) Size() int { return len(p) }

type Shop struct {
	Boss *Customer
	Open bool
}

type base struct{ Cursor string }

func (*base) Next(context.Context) (string, error) { return "", nil }

type Paged[T any] struct {
	*base
	Items []T
}

func (p *Paged[T]) Total() int { return len(p.Items) }

type OrderPage = Paged[*Order]

type Node interface{ IsNode() }

type Leaf struct{}

func (Leaf) IsNode()     {}
func (*Leaf) ID() string { return "" }
