package policy

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// leaf is a setting: where it is in a Spec, and what messages call it.
type leaf struct {
	path  string
	index [][]int // the fields to follow from the Spec, each through its pointer
}

// leaves lists every setting of every stage, those of nested specs included.
func leaves() []leaf {
	var list []leaf
	var visit func(t reflect.Type, at leaf)
	visit = func(t reflect.Type, at leaf) {
		for _, field := range reflect.VisibleFields(t) {
			path := settingName(field.Name)
			if at.path != "" {
				path = at.path + "." + path
			}
			next := leaf{path: path, index: append(at.index[:len(at.index):len(at.index)], field.Index)}
			nested := field.Type.Kind() == reflect.Pointer && field.Type.Elem().Kind() == reflect.Struct &&
				field.Type != reflect.TypeFor[*Window]()
			if nested {
				visit(field.Type.Elem(), next)
			} else {
				list = append(list, next)
			}
		}
	}
	visit(reflect.TypeFor[Spec](), leaf{})
	return list
}

// set makes a Spec with this one setting, and returns how to recognise the setting: funcs can't
// be compared, so a call tells.
func (l leaf) set() (spec Spec, is func(reflect.Value) bool) {
	at := reflect.ValueOf(&spec).Elem()
	for _, index := range l.index {
		if at.Kind() == reflect.Pointer {
			at.Set(reflect.New(at.Type().Elem()))
			at = at.Elem()
		}
		at = at.FieldByIndex(index)
	}
	if at.Kind() == reflect.Func {
		called := false
		at.Set(reflect.MakeFunc(at.Type(), func([]reflect.Value) []reflect.Value {
			called = true
			return zeros(at.Type().Out, at.Type().NumOut())
		}))
		return spec, func(got reflect.Value) bool {
			got.Call(zeros(got.Type().In, got.Type().NumIn()))
			return called
		}
	}
	at.Set(reflect.New(at.Type().Elem()))
	if enabled, ok := at.Interface().(*bool); ok {
		*enabled = true
	}
	return spec, func(got reflect.Value) bool { return got.Pointer() == at.Pointer() }
}

func zeros(at func(int) reflect.Type, n int) []reflect.Value {
	var list []reflect.Value
	for i := range n {
		list = append(list, reflect.Zero(at(i)))
	}
	return list
}

// get returns the setting of spec.
func (l leaf) get(spec Spec) reflect.Value {
	at := reflect.ValueOf(spec)
	for _, index := range l.index {
		if at.Kind() == reflect.Pointer {
			at = at.Elem()
		}
		at = at.FieldByIndex(index)
	}
	return at
}

// everyStage is on and sets nothing.
func everyStage() Spec {
	return Spec{
		Timeout: &TimeoutSpec{}, Retry: &RetrySpec{}, CircuitBreaker: &CircuitBreakerSpec{},
		Bulkhead: &BulkheadSpec{}, RateLimit: &RateLimitSpec{}, Fallback: &FallbackSpec{},
	}
}

func TestTheWalkFindsEverySetting(t *testing.T) {
	var paths []string
	for _, l := range leaves() {
		paths = append(paths, l.path)
	}
	assert.GreaterOrEqual(t, len(paths), 37)
	assert.Contains(t, paths, "retry.backoff.maxDelay")
	assert.Contains(t, paths, "circuitBreaker.window")
	assert.Contains(t, paths, "fallback.fallbackIf")
}

// Every setting must come through from wherever it is set, and win over the sources below.
func TestMergeCarriesEverySettingFromEverySource(t *testing.T) {
	const sources = 4 // three layers and the defaults
	for _, l := range leaves() {
		for source := range sources {
			t.Run(fmt.Sprintf("%s from source %d", l.path, source), func(t *testing.T) {
				stack := []Layer{
					{Origin: "source 0", Spec: everyStage()}, {Origin: "source 1", Spec: everyStage()},
					{Origin: "source 2", Spec: everyStage()}, {Origin: "source 3", Spec: everyStage()},
				}
				spec, is := l.set()
				stack[source].Spec = spec
				for below := source + 1; below < sources; below++ {
					stack[below].Spec, _ = l.set()
				}

				m := merge(stack[:sources-1], stack[sources-1], builtIn())

				got := l.get(m.spec)
				require.False(t, got.IsNil(), "the setting got lost")
				assert.True(t, is(got), "the setting came from elsewhere")
				assert.Equal(t, fmt.Sprintf("source %d", source), m.origins[l.path])
			})
		}
	}
}

func TestMergeTakesSettingBySetting(t *testing.T) {
	m := merge([]Layer{
		{Origin: "field", Spec: Spec{Retry: &RetrySpec{Backoff: &BackoffSpec{Delay: new(time.Second)}}}},
		{Origin: "type", Spec: Spec{Retry: &RetrySpec{Attempts: new(7), Backoff: &BackoffSpec{Delay: new(time.Minute), Factor: new(3.0)}}}},
	}, Layer{Origin: "defaults", Spec: Spec{Retry: &RetrySpec{Attempts: new(9), Backoff: &BackoffSpec{MaxDelay: new(time.Hour)}}}}, builtIn())

	assert.Equal(t, &RetrySpec{Attempts: new(7), Backoff: &BackoffSpec{
		Delay: new(time.Second), Factor: new(3.0), MaxDelay: new(time.Hour),
	}}, m.spec.Retry)
	assert.Equal(t, map[string]string{
		"retry": "field", "retry.attempts": "type", "retry.backoff.delay": "field",
		"retry.backoff.factor": "type", "retry.backoff.maxDelay": "defaults",
	}, m.origins)
}

func TestMergeLeavesItsSourcesAlone(t *testing.T) {
	top := Spec{Retry: &RetrySpec{Backoff: &BackoffSpec{Delay: new(time.Second)}}}
	defaults := Spec{Retry: &RetrySpec{Attempts: new(9), Backoff: &BackoffSpec{Factor: new(1.0)}}}
	merge([]Layer{{Spec: top}}, Layer{Spec: defaults}, builtIn())

	assert.Equal(t, &RetrySpec{Backoff: &BackoffSpec{Delay: new(time.Second)}}, top.Retry)
	assert.Equal(t, &RetrySpec{Attempts: new(9), Backoff: &BackoffSpec{Factor: new(1.0)}}, defaults.Retry)
}

// In each row the layers are listed first to last; what the timeout stage comes to is the
// duration, 0 for a stage that is off.
func TestFirstMentionDecidesWhetherAStageIsOn(t *testing.T) {
	nothing := Spec{}
	empty := Spec{Timeout: &TimeoutSpec{}}
	on := func(d time.Duration) Spec { return Spec{Timeout: &TimeoutSpec{Duration: &d}} }
	off := Spec{Timeout: &TimeoutSpec{Enabled: new(false), Duration: new(time.Hour)}}
	explicit := Spec{Timeout: &TimeoutSpec{Enabled: new(true)}}

	for name, row := range map[string]struct {
		layers   []Spec
		defaults Spec
		want     time.Duration
		exempt   bool
	}{
		"nobody mentions it":                   {layers: []Spec{nothing, nothing}},
		"defaults alone do not turn it on":     {layers: []Spec{nothing}, defaults: on(1)},
		"an empty mention turns it on":         {layers: []Spec{empty}, defaults: on(1), want: 1},
		"Enabled true turns it on":             {layers: []Spec{explicit, on(2)}, want: 2},
		"the upper setting wins":               {layers: []Spec{on(1), on(2)}, defaults: on(3), want: 1},
		"the lower one fills":                  {layers: []Spec{empty, on(2)}, defaults: on(3), want: 2},
		"off above on is off":                  {layers: []Spec{off, on(2)}, exempt: true},
		"off above an empty mention is off":    {layers: []Spec{off, empty}, defaults: on(3), exempt: true},
		"off alone turns nothing off":          {layers: []Spec{off}, defaults: on(3)},
		"off above off turns nothing off":      {layers: []Spec{off, off}},
		"on above off is on, and off is mute":  {layers: []Spec{empty, off}, defaults: on(3), want: 3},
		"off in the middle lends nothing":      {layers: []Spec{empty, off, on(2)}, want: 2},
		"silence above off decides nothing":    {layers: []Spec{nothing, off, on(2)}, exempt: true},
		"silence above on decides nothing":     {layers: []Spec{nothing, on(2), off}, want: 2},
		"explicit on above off keeps its half": {layers: []Spec{explicit, off}, defaults: on(3), want: 3},
	} {
		t.Run(name, func(t *testing.T) {
			var layers []Layer
			for i, spec := range row.layers {
				layers = append(layers, Layer{Origin: fmt.Sprint(i), Spec: spec})
			}
			m := merge(layers, Layer{Origin: defaultsOrigin, Spec: row.defaults})
			if row.want == 0 {
				assert.Nil(t, m.spec.Timeout)
			} else if assert.NotNil(t, m.spec.Timeout) {
				assert.Equal(t, row.want, *m.spec.Timeout.Duration)
			}
			assert.Equal(t, row.exempt, m.exempt)
		})
	}
}

func TestFuncsReplaceOneAnother(t *testing.T) {
	var asked []string
	answer := func(name string) func(error) bool {
		return func(error) bool { asked = append(asked, name); return true }
	}
	m := merge([]Layer{
		{Spec: Spec{Fallback: &FallbackSpec{FallbackIf: answer("field")}}},
		{Spec: Spec{Fallback: &FallbackSpec{
			FallbackIf: answer("preset"), Func: func(context.Context, error) (any, error) { return "preset", nil },
		}}},
	})
	m.spec.Fallback.FallbackIf(nil)
	value, _ := m.spec.Fallback.Func(t.Context(), nil)

	assert.Equal(t, []string{"field"}, asked)
	assert.Equal(t, "preset", value)
}

func TestSettingNames(t *testing.T) {
	assert.Equal(t, "maxDelay", settingName("MaxDelay"))
	assert.Equal(t, "name", settingName("Name"))
}
