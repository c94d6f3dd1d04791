package carrier

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func call(ctx context.Context, stub *Stub, method, target, body string) *httptest.ResponseRecorder {
	recorder := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	stub.ServeHTTP(recorder, request)
	return recorder
}

func quotes(ctx context.Context, stub *Stub) *httptest.ResponseRecorder {
	return call(ctx, stub, http.MethodGet, "/quotes?weight=2", "")
}

func TestEachModeAnswersInItsWay(t *testing.T) {
	for _, row := range []struct {
		mode       string
		statuses   []int
		retryAfter string
	}{
		{mode: "ok", statuses: []int{200, 200}},
		{mode: "fail", statuses: []int{500, 500}},
		{mode: "flaky", statuses: []int{503, 200, 503, 200}},
		{mode: "busy", statuses: []int{429}, retryAfter: "1"},
		{mode: "refuse", statuses: []int{422}},
	} {
		t.Run(row.mode, func(t *testing.T) {
			stub := NewStub()
			assert.Equal(t, http.StatusNoContent, call(t.Context(), stub, http.MethodPut, "/mode/"+row.mode, "").Code)
			for _, status := range row.statuses {
				answer := quotes(t.Context(), stub)
				assert.Equal(t, status, answer.Code)
				assert.Equal(t, row.retryAfter, answer.Header().Get("Retry-After"))
			}
			assert.Equal(t, Calls{Seen: len(row.statuses)}, stub.Calls())
		})
	}
}

func TestUnknownModeIsRefusedAndChangesNothing(t *testing.T) {
	stub := NewStub()
	answer := call(t.Context(), stub, http.MethodPut, "/mode/purr", "")
	assert.Equal(t, http.StatusNotFound, answer.Code)
	assert.Contains(t, answer.Body.String(), `"hang"`)
	assert.Equal(t, http.StatusOK, quotes(t.Context(), stub).Code)
}

func TestSlowAnswersAfterASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stub := NewStub()
		stub.SetMode(ModeSlow)
		start := time.Now()
		assert.Equal(t, http.StatusOK, quotes(t.Context(), stub).Code)
		assert.Equal(t, time.Second, time.Since(start))
		assert.Equal(t, Calls{Seen: 1}, stub.Calls())
	})
}

func TestCallersThatGiveUpAreCountedAsCancelled(t *testing.T) {
	for _, mode := range []Mode{ModeHang, ModeSlow} {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stub := NewStub()
				stub.SetMode(mode)
				ctx, cancel := context.WithCancel(t.Context())
				go quotes(ctx, stub)
				synctest.Wait()
				assert.Equal(t, Calls{Seen: 1}, stub.Calls())
				cancel()
				synctest.Wait()
				assert.Equal(t, Calls{Seen: 1, Cancelled: 1}, stub.Calls())
			})
		})
	}
}

func TestCallsAreToldAndReset(t *testing.T) {
	stub := NewStub()
	quotes(t.Context(), stub)
	assert.JSONEq(t, `{"seen": 1, "cancelled": 0}`, call(t.Context(), stub, http.MethodGet, "/calls", "").Body.String())
	assert.Equal(t, http.StatusNoContent, call(t.Context(), stub, http.MethodDelete, "/calls", "").Code)
	assert.JSONEq(t, `{"seen": 0, "cancelled": 0}`, call(t.Context(), stub, http.MethodGet, "/calls", "").Body.String())
}

func TestShipmentsWithTheSameReferenceAreOne(t *testing.T) {
	stub := NewStub()
	first := call(t.Context(), stub, http.MethodPost, "/shipments", `{"reference": "1001"}`)
	again := call(t.Context(), stub, http.MethodPost, "/shipments", `{"reference": "1001"}`)
	other := call(t.Context(), stub, http.MethodPost, "/shipments", `{"reference": "1002"}`)
	assert.Equal(t, []int{201, 200, 201}, []int{first.Code, again.Code, other.Code})
	assert.Equal(t, first.Body.String(), again.Body.String())
	assert.NotEqual(t, first.Body.String(), other.Body.String())
}

func TestEachRedirectionIsChargedFor(t *testing.T) {
	stub := NewStub()
	for _, charged := range []string{`{"charged": 1}`, `{"charged": 2}`} {
		answer := call(t.Context(), stub, http.MethodPost, "/redirections", `{"reference": "1001", "address": "Rome"}`)
		require.Equal(t, http.StatusCreated, answer.Code)
		assert.JSONEq(t, charged, answer.Body.String())
	}
}

func TestMalformedCallsAreTheCallersFault(t *testing.T) {
	stub := NewStub()
	for _, answer := range []*httptest.ResponseRecorder{
		call(t.Context(), stub, http.MethodGet, "/quotes?weight=heavy", ""),
		call(t.Context(), stub, http.MethodPost, "/shipments", `{"reference": ""}`),
		call(t.Context(), stub, http.MethodPost, "/redirections", `a parcel`),
	} {
		assert.Equal(t, http.StatusBadRequest, answer.Code)
	}
}
