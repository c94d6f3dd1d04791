package gqlerrors_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/client"
	"github.com/stretchr/testify/assert"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/gqlresilience/gqlresilience/gqlerrors"
	"github.com/gqlresilience/gqlresilience/policy"
)

func raw(text string) error { return client.RawJsonError{RawMessage: json.RawMessage(text)} }

func TestReadRecoversWhatConvertWrote(t *testing.T) {
	for _, row := range []struct {
		failure *policy.Error
		want    gqlerrors.Info
	}{
		{&policy.Error{Kind: policy.KindTimeout}, gqlerrors.Info{Code: gqlerrors.CodeTimeout, HTTPStatus: 504}},
		{&policy.Error{Kind: policy.KindBulkheadFull}, gqlerrors.Info{Code: gqlerrors.CodeBulkheadFull, HTTPStatus: 503}},
		{&policy.Error{Kind: policy.KindCircuitOpen, RetryAfter: 1500 * time.Millisecond},
			gqlerrors.Info{Code: gqlerrors.CodeCircuitOpen, HTTPStatus: 503, RetryAfter: 2 * time.Second}},
		{&policy.Error{Kind: policy.KindRateLimited, RetryAfter: time.Duration(math.MaxInt64)},
			gqlerrors.Info{Code: gqlerrors.CodeRateLimited, HTTPStatus: 503, RetryAfter: math.MaxInt32 * time.Second}},
	} {
		t.Run(row.want.Code, func(t *testing.T) {
			converted := gqlerrors.Convert(row.failure).(*gqlerror.Error)
			text := wire(t, converted)
			var decoded gqlerror.Error
			assert.NoError(t, json.Unmarshal([]byte(text), &decoded))

			for behaviour, err := range map[string]error{
				"in process":            converted,
				"wrapped":               fmt.Errorf("quotes: %w", converted),
				"joined":                errors.Join(errors.New("a"), converted),
				"decoded":               &decoded,
				"in a list":             gqlerror.List{nil, gqlerror.Errorf("no code"), converted, coded("LATER", nil)},
				"in a wrapped list":     fmt.Errorf("response: %w", gqlerror.List{converted}),
				"JSON of an error":      raw(text),
				"JSON of a list":        raw(`[{"message": "no code"}, ` + text + `, {"extensions": {"code": "LATER"}}]`),
				"JSON of a response":    raw(`{"data": null, "errors": [` + text + `]}`),
				"wrapped JSON":          fmt.Errorf("response: %w", raw(`[`+text+`]`)),
				"JSON behind a pointer": &client.RawJsonError{RawMessage: json.RawMessage(text)},
			} {
				info, ok := gqlerrors.Read(err)

				assert.True(t, ok, behaviour)
				assert.Equal(t, row.want, info, behaviour)
			}
		})
	}
}

func TestReadTellsTheInstanceOfAHiddenError(t *testing.T) {
	logger, records := newLog(t)
	presented := gqlerrors.Presenter(nil, gqlerrors.MaskUnknown(logger))(t.Context(), errSecret)

	for behaviour, err := range map[string]error{"in process": presented, "as JSON": raw(wire(t, presented))} {
		info, ok := gqlerrors.Read(err)

		assert.True(t, ok, behaviour)
		assert.Equal(t, gqlerrors.Info{Code: gqlerrors.CodeInternal, HTTPStatus: 500, Instance: records()[0].Instance}, info, behaviour)
	}
	info, _ := gqlerrors.Read(raw(`{"extensions": {"code": "INTERNAL", "instance": 42}}`))
	assert.Equal(t, gqlerrors.Info{Code: gqlerrors.CodeInternal}, info)
}

func TestReadFindsNoInfoWithoutACode(t *testing.T) {
	for behaviour, err := range map[string]error{
		"no error":                     nil,
		"a plain error":                errors.New("connection refused"),
		"a GraphQL error":              gqlerror.Errorf("no such order"),
		"a policy error not converted": &policy.Error{Kind: policy.KindTimeout},
		"a nil GraphQL error":          (*gqlerror.Error)(nil),
		"a nil JSON error":             (*client.RawJsonError)(nil),
		"an empty code":                coded("", nil),
		"a code that is no text":       &gqlerror.Error{Extensions: map[string]any{"code": 42}},
		"an empty list":                gqlerror.List{},
		"no JSON":                      raw(``),
		"broken JSON":                  raw(`[{"extensions": {"code": "TIMEOUT"`),
		"JSON null":                    raw(`null`),
		"JSON text":                    raw(`"TIMEOUT"`),
		"no list of errors":            raw(`{"errors": 5}`),
		"errors of wrong types":        raw(`[null, 5, "x", [], {"extensions": []}, {"extensions": {"code": {}}}]`),
		"too deep JSON":                raw(strings.Repeat(`[`, 100_000) + strings.Repeat(`]`, 100_000)),
	} {
		t.Run(behaviour, func(t *testing.T) {
			info, ok := gqlerrors.Read(err)

			assert.False(t, ok)
			assert.Zero(t, info)
		})
	}
}

func TestReadTakesNumbersOfAnyTypeAndIgnoresAbsurdOnes(t *testing.T) {
	const never = math.MaxInt32 * time.Second
	for _, row := range []struct {
		status     any
		retryAfter any
		wantStatus int
		wantAfter  time.Duration
	}{
		{503, 30, 503, 30 * time.Second},
		{int64(503), uint8(30), 503, 30 * time.Second},
		{float64(503), 1.5, 503, 1500 * time.Millisecond},
		{json.Number("503"), json.Number("30"), 503, 30 * time.Second},
		{json.Number("5.03e2"), json.Number("1e400"), 503, 0},
		{99, -1, 0, 0},
		{600, 0, 0, 0},
		{503.5, math.NaN(), 0, 0},
		{math.Inf(1), math.Inf(1), 0, never},
		{math.Inf(-1), math.Inf(-1), 0, 0},
		{math.MinInt64, int64(math.MinInt64), 0, 0},
		{uint64(math.MaxUint64), uint64(math.MaxUint64), 0, never},
		{math.MaxFloat64, math.MaxFloat64, 0, never},
		{"503", "30", 0, 0},
		{json.Number("x"), json.Number(""), 0, 0},
		{nil, nil, 0, 0},
		{true, []any{30}, 0, 0},
		{map[string]any{}, (*int)(nil), 0, 0},
	} {
		t.Run(fmt.Sprintf("%T %v, %T %v", row.status, row.status, row.retryAfter, row.retryAfter), func(t *testing.T) {
			info, ok := gqlerrors.Read(&gqlerror.Error{Extensions: map[string]any{
				"code": "CIRCUIT_OPEN", "httpStatus": row.status, "retryAfter": row.retryAfter,
			}})

			assert.True(t, ok)
			assert.Equal(t, gqlerrors.Info{Code: "CIRCUIT_OPEN", HTTPStatus: row.wantStatus, RetryAfter: row.wantAfter}, info)
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`[{"message": "x", "extensions": {"code": "CIRCUIT_OPEN", "httpStatus": 503, "retryAfter": 30}}]`)
	f.Add(`{"errors": [{"extensions": {"code": "TIMEOUT", "httpStatus": -1e300, "retryAfter": 1e18}}]}`)
	f.Add(`{"extensions": {"code": "X", "retryAfter": 0.0000000001}}`)
	f.Add(`{"extensions": {"code": "INTERNAL", "httpStatus": 500, "instance": "5c1e0a7d93b2f864"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		info, ok := gqlerrors.Read(raw(text))

		if ok != (info.Code != "") {
			t.Errorf("found %t, code %q", ok, info.Code)
		}
		if !ok && info != (gqlerrors.Info{}) {
			t.Errorf("found nothing, but %+v", info)
		}
		if info.HTTPStatus != 0 && (info.HTTPStatus < 100 || info.HTTPStatus > 599) {
			t.Errorf("status %d", info.HTTPStatus)
		}
		if info.RetryAfter < 0 || info.RetryAfter > math.MaxInt32*time.Second {
			t.Errorf("retry after %v", info.RetryAfter)
		}
	})
}
