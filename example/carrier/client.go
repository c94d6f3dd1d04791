// Package carrier talks to the carrier that ships the store's parcels, and has a stub of it to
// try failures with.
package carrier

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/gqlresilience/gqlresilience/policy"
)

// Parcel is what the carrier is to ship.
type Parcel struct {
	Reference string  `json:"reference"` // the sender's name for it; the carrier accepts each once
	Weight    float64 `json:"weight"`    // in kilograms
	Address   string  `json:"address"`
}

// Quote is what one of the carrier's services costs for a parcel.
type Quote struct {
	Service string  `json:"service"`
	Price   float64 `json:"price"` // in euros
	Days    int     `json:"days"`
}

// Shipment is a parcel that the carrier has accepted.
type Shipment struct {
	ID           string `json:"id"`
	Reference    string `json:"reference"`
	TrackingCode string `json:"trackingCode"`
}

type redirection struct {
	Reference string `json:"reference"`
	Address   string `json:"address"`
}

// Error is a failed call of the carrier.
type Error struct {
	Call  string // "quotes"
	Cause error
}

func (e *Error) Error() string { return "carrier: " + e.Call + ": " + e.Cause.Error() }

// Unwrap returns the cause, in whose chain the policies find the carrier's status.
func (e *Error) Unwrap() error { return e.Cause }

// Refused reports whether the carrier has answered that it will not take the parcel.
func (e *Error) Refused() bool {
	response, ok := errors.AsType[*policy.ResponseError](e.Cause)
	return ok && response.Status == http.StatusUnprocessableEntity
}

// Client calls the carrier over HTTP. It sets no time limit, does not retry and keeps no
// state: that is the policy's part, which reaches it through the context.
type Client struct {
	base *url.URL
	http *http.Client
}

// NewClient returns a client of the carrier at the base URL, such as "http://127.0.0.1:8081".
// A nil transport means [http.DefaultTransport].
func NewClient(baseURL string, transport http.RoundTripper) (*Client, error) {
	base, err := url.Parse(baseURL)
	if err != nil {
		return nil, fmt.Errorf("carrier URL: %w", err)
	}
	if base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("carrier URL %q: must be http://host or https://host", baseURL)
	}
	return &Client{base: base, http: &http.Client{Transport: transport}}, nil
}

// Quotes asks what the parcel costs.
func (c *Client) Quotes(ctx context.Context, parcel Parcel) ([]Quote, error) {
	target := c.base.JoinPath("quotes")
	target.RawQuery = url.Values{
		"reference": {parcel.Reference},
		"weight":    {strconv.FormatFloat(parcel.Weight, 'f', -1, 64)},
		"address":   {parcel.Address},
	}.Encode()
	var quotes []Quote
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, target.String(), nil)
	if err == nil {
		err = c.send(request, &quotes)
	}
	if err != nil {
		return nil, &Error{Call: "quotes", Cause: err}
	}
	return quotes, nil
}

// Book makes the carrier ship the parcel. Booking a parcel again gives the shipment it has.
func (c *Client) Book(ctx context.Context, parcel Parcel) (Shipment, error) {
	var shipment Shipment
	if err := c.post(ctx, "shipments", parcel, &shipment); err != nil {
		return Shipment{}, &Error{Call: "booking", Cause: err}
	}
	return shipment, nil
}

// Redirect sends the parcel with the reference elsewhere. The carrier charges for every call.
func (c *Client) Redirect(ctx context.Context, reference, address string) error {
	if err := c.post(ctx, "redirections", redirection{reference, address}, nil); err != nil {
		return &Error{Call: "redirection", Cause: err}
	}
	return nil
}

func (c *Client) post(ctx context.Context, path string, body, answer any) error {
	encoded, err := json.Marshal(body)
	if err != nil {
		return err
	}
	target := c.base.JoinPath(path).String()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	return c.send(request, answer)
}

// timeLeftHeader tells the carrier how long the caller waits.
const timeLeftHeader = "X-Time-Left"

// maxAnswer is how many bytes of an answer are read; the carrier's are far smaller.
const maxAnswer = 1 << 20

func (c *Client) send(request *http.Request, answer any) error {
	if left, limited := policy.RemainingTime(request.Context()); limited {
		request.Header.Set(timeLeftHeader, left.String()) // so that the carrier need not work in vain
	}
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body := io.LimitReader(response.Body, maxAnswer)
	// Read to the end, also what is of no interest, so that the connection can be used again.
	defer io.Copy(io.Discard, body)
	if err := policy.CheckResponse(response); err != nil {
		return err
	}
	if answer == nil {
		return nil
	}
	if err := json.NewDecoder(body).Decode(answer); err != nil {
		return fmt.Errorf("unreadable answer: %w", err)
	}
	return nil
}
