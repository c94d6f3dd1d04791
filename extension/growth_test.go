package extension_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/extension"
	"github.com/gqlresilience/gqlresilience/policy"
)

// What boot allocates tells how much it does, on a busy machine too. It does not tell how often the
// warnings climb over the same types: no step up allocates.
func TestThePlanAllocatesInProportionToTheSchema(t *testing.T) {
	const carrier = `@resilience(preset: "carrier")`
	each := func(template string) func(*strings.Builder, int) {
		return func(sdl *strings.Builder, n int) {
			for i := range n {
				numbers := strings.NewReplacer("$own", fmt.Sprint(i), "$next", fmt.Sprint((i+1)%n), "$other", fmt.Sprint(i*7%n))
				sdl.WriteString(numbers.Replace(template) + "\n")
			}
		}
	}
	for name, write := range map[string]func(*strings.Builder, int){
		"fields of one preset": func(sdl *strings.Builder, n int) {
			sdl.WriteString("type Query {\n")
			each("f$own: Int "+carrier)(sdl, n)
			sdl.WriteString("}\n")
		},
		"fields of their own policies": func(sdl *strings.Builder, n int) {
			sdl.WriteString("type Query {\n")
			each(`f$own: Int @resilience(timeout: "1$ownms")`)(sdl, n)
			sdl.WriteString("}\n")
		},
		"types that lead to each other": func(sdl *strings.Builder, n int) {
			sdl.WriteString("type Query { t: T0! " + carrier + " }\n")
			each("type T$own { next: T$next! others: [T$other] value: Int! "+carrier+" }")(sdl, n)
		},
		"an interface": func(sdl *strings.Builder, n int) {
			sdl.WriteString("type Query { node: Node! " + carrier + " }\ninterface Node { id: ID! }\n")
			each("type T$own implements Node { id: ID! related: [Node!]! value: Int! "+carrier+" }")(sdl, n)
		},
	} {
		t.Run(name, func(t *testing.T) {
			const few, times = 40, 8
			allocated := func(n int) float64 {
				var sdl strings.Builder
				write(&sdl, n)
				s := loadShop(t, sdl.String())
				registry := newRegistry(t, presets{"carrier": {
					Timeout: &policy.TimeoutSpec{Duration: new(time.Second)}, Retry: &policy.RetrySpec{Attempts: new(2)},
				}})
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				plan, _, err := extension.New(registry).PlanSchema(s)
				require.NoError(t, err)
				size := len(plan.String())
				runtime.ReadMemStats(&after)
				require.Greater(t, size, n*len("Query.f"))
				return float64(after.TotalAlloc - before.TotalAlloc)
			}
			require.Less(t, allocated(few*times)/allocated(few), 2.5*times)
		})
	}
}

func TestTextsListNoMoreThanAReaderTakesIn(t *testing.T) {
	const n = 20
	var sdl strings.Builder
	sdl.WriteString("type Query {\n")
	for i := range n {
		fmt.Fprintf(&sdl, "q%02d: Order @resilience(preset: \"carrier\")\n", i)
	}
	sdl.WriteString("}\ntype Order { price: Int! @resilience(preset: \"carrier\") }")
	registry := newRegistry(t, presets{"carrier": {Retry: &policy.RetrySpec{Attempts: new(2)}}})
	plan, warnings, err := extension.New(registry).PlanSchema(loadShop(t, sdl.String()))
	require.NoError(t, err)
	require.Contains(t, strings.Join(warnings, "\n"), "up to 2 attempts, under Query.q00, with up to 2, and under Query.q01, with up to 2, "+
		"and under Query.q02, with up to 2, and 17 more: one query may make 4 calls")

	require.Contains(t, plan.String(), `
    failure takes along  Query.q00
                         Query.q01
                         Query.q02
                         and 17 more
`)
	require.Len(t, plan.Fields[0].TakesAlong, n, "tools get them all")
}
