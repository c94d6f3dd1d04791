package loadertest

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"

	"github.com/gqlresilience/gqlresilience/internal/testgraph/model"
	"github.com/gqlresilience/gqlresilience/policy"
)

// Loaders are those of one response.
type Loaders struct {
	Quotes   *Loader[string, []*model.Quote] // for fields without a policy
	Forecast *Loader[string, *string]        // for fields with one
}

type loadersKey struct{}

// LoadersFrom returns the loaders of the response that a field belongs to.
func LoadersFrom(ctx context.Context) *Loaders { return ctx.Value(loadersKey{}).(*Loaders) }

// UseLoaders gives each response loaders of its own.
func UseLoaders(server *handler.Server, registry *policy.Registry, client *Client) error {
	carrier, err := registry.Preset("carrier")
	if err != nil {
		return err
	}
	server.AroundResponses(func(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
		return next(context.WithValue(ctx, loadersKey{}, &Loaders{
			Quotes:   NewLoader(ctx, UnderPolicy(carrier.WithSource("Item.quotes"), client.Quotes)),
			Forecast: NewLoader(ctx, Within(5*time.Second, client.Forecasts)),
		}))
	})
	return nil
}

// Client calls the dependency, which takes many keys in one call.
type Client struct {
	Quotes    Fetch[string, []*model.Quote]
	Forecasts Fetch[string, *string]
}

type itemResolver struct{}

func (r *itemResolver) Quotes(ctx context.Context, obj *model.Item) ([]*model.Quote, error) {
	return LoadersFrom(ctx).Quotes.Load(ctx, obj.ID)
}

func (r *itemResolver) Slow(ctx context.Context, obj *model.Item) (*string, error) {
	return LoadersFrom(ctx).Forecast.Load(ctx, obj.ID)
}
