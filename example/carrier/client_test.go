package carrier

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gqlresilience/gqlresilience/policy"
)

var parcel = Parcel{Reference: "1001", Weight: 2.5, Address: "3 Harbour Lane, Bristol"}

func stubAndClient(t *testing.T) (*Stub, *Client) {
	t.Helper()
	stub := NewStub()
	server := httptest.NewServer(stub)
	t.Cleanup(server.Close)
	client, err := NewClient(server.URL, nil)
	require.NoError(t, err)
	return stub, client
}

func TestClientAsksForQuotes(t *testing.T) {
	_, client := stubAndClient(t)
	quotes, err := client.Quotes(t.Context(), parcel)
	require.NoError(t, err)
	assert.Equal(t, []Quote{
		{Service: "standard", Price: 4.5, Days: 3},
		{Service: "express", Price: 9.9, Days: 1},
	}, quotes)
}

func TestClientBooksAndRedirects(t *testing.T) {
	_, client := stubAndClient(t)
	shipment, err := client.Book(t.Context(), parcel)
	require.NoError(t, err)
	assert.Equal(t, Shipment{ID: "shipment-1", Reference: "1001", TrackingCode: "PURR000001"}, shipment)
	assert.NoError(t, client.Redirect(t.Context(), "1001", "Via Roma 8, Torino"))
}

func TestClientKeepsThePathOfItsBaseURL(t *testing.T) {
	server := httptest.NewServer(http.StripPrefix("/api/v1", NewStub()))
	defer server.Close()
	client, err := NewClient(server.URL+"/api/v1/", nil)
	require.NoError(t, err)
	_, err = client.Quotes(t.Context(), parcel)
	assert.NoError(t, err)
}

func TestClientsErrorCarriesStatusAndRetryAfterButNotTheBody(t *testing.T) {
	for _, row := range []struct {
		mode       Mode
		status     int
		retryAfter time.Duration
		refused    bool
	}{
		{mode: ModeFail, status: 500},
		{mode: ModeBusy, status: 429, retryAfter: time.Second},
		{mode: ModeRefuse, status: 422, refused: true},
	} {
		t.Run(string(row.mode), func(t *testing.T) {
			stub, client := stubAndClient(t)
			stub.SetMode(row.mode)
			_, err := client.Book(t.Context(), parcel)

			var response *policy.ResponseError
			require.ErrorAs(t, err, &response)
			assert.Equal(t, row.status, response.Status)
			assert.Equal(t, row.retryAfter, response.RetryAfter)
			for _, body := range []string{"wheel", "too many calls", "cats"} {
				assert.NotContains(t, err.Error(), body)
			}
			var failed *Error
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, row.refused, failed.Refused())
		})
	}
}

func TestClientPassesItsContextOnToTheCarrier(t *testing.T) {
	stub, client := stubAndClient(t)
	stub.SetMode(ModeHang)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := client.Book(ctx, parcel)
		failed <- err
	}()
	require.Eventually(t, func() bool { return stub.Calls().Seen == 1 }, 10*time.Second, time.Millisecond)
	cancel()
	assert.ErrorIs(t, <-failed, context.Canceled)
	require.Eventually(t, func() bool { return stub.Calls().Cancelled == 1 }, 10*time.Second, time.Millisecond)
}

func TestUnreadableAnswerIsAnError(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte("<html>"))
	}))
	defer server.Close()
	client, err := NewClient(server.URL, nil)
	require.NoError(t, err)
	_, err = client.Quotes(t.Context(), parcel)
	assert.ErrorContains(t, err, "carrier: quotes: unreadable answer")
}

func TestCarrierURLMustBeAnHTTPAddress(t *testing.T) {
	for _, url := range []string{"", "127.0.0.1:8081", "ftp://carrier", "http://", "http://%"} {
		_, err := NewClient(url, nil)
		assert.ErrorContains(t, err, "carrier URL", url)
	}
}
