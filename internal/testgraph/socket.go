package testgraph

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Socket is a WebSocket client, speaking graphql-transport-ws over a net.Pipe.
// It carries one operation.
type Socket struct {
	t      testing.TB
	conn   net.Conn
	reader *bufio.Reader
}

// Dial opens a Socket with ctx as the request's context. It is closed when the
// test ends, if not before.
func Dial(ctx context.Context, t testing.TB, server http.Handler) *Socket {
	t.Helper()
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody)
	request.Header = http.Header{
		"Connection":             {"Upgrade"},
		"Upgrade":                {"websocket"},
		"Sec-Websocket-Version":  {"13"},
		"Sec-Websocket-Key":      {"dGhlIHNhbXBsZSBub25jZQ=="},
		"Sec-Websocket-Protocol": {"graphql-transport-ws"},
	}
	client, peer := net.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		server.ServeHTTP(hijackable{httptest.NewRecorder(), peer}, request)
	}()
	socket := &Socket{t: t, conn: client, reader: bufio.NewReader(client)}
	t.Cleanup(func() {
		socket.Close()
		<-ended
	})
	socket.send(message{Type: "connection_init"})
	if ack := socket.receive(); ack.Type != "connection_ack" {
		t.Fatalf("got message %q instead of connection_ack", ack.Type)
	}
	return socket
}

// Subscribe starts the operation.
func (s *Socket) Subscribe(query string) {
	s.t.Helper()
	payload, err := json.Marshal(map[string]string{"query": query})
	if err != nil {
		s.t.Fatalf("encode: %v", err)
	}
	s.send(message{ID: "1", Type: "subscribe", Payload: payload})
}

// Next waits for the operation's next response. It reports false once there are
// no more: with the errors if the server refused the operation, else with
// nothing.
func (s *Socket) Next() (Response, bool) {
	s.t.Helper()
	var response Response
	switch received := s.receive(); received.Type {
	case "next":
		s.decode(received.Payload, &response)
		return response, true
	case "error":
		s.decode(received.Payload, &response.Errors)
	case "complete":
	default:
		s.t.Fatalf("unexpected message %q", received.Type)
	}
	return response, false
}

// Close drops the connection, as a client does that went away.
func (s *Socket) Close() { _ = s.conn.Close() }

type message struct {
	ID      string          `json:"id,omitempty"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

// send writes one text frame, masked with zeros.
func (s *Socket) send(m message) {
	s.t.Helper()
	payload, err := json.Marshal(m)
	if err != nil {
		s.t.Fatalf("encode: %v", err)
	}
	frame := binary.BigEndian.AppendUint16([]byte{0x81, 0x80 | 126}, uint16(len(payload)))
	frame = append(frame, 0, 0, 0, 0)
	if _, err := s.conn.Write(append(frame, payload...)); err != nil {
		s.t.Fatalf("write %q: %v", m.Type, err)
	}
}

// receive reads one text frame.
func (s *Socket) receive() message {
	s.t.Helper()
	header := s.read(2)
	if header[0] != 0x81 {
		s.t.Fatalf("unexpected frame %#x", header[0])
	}
	length := uint64(header[1])
	switch length {
	case 126:
		length = uint64(binary.BigEndian.Uint16(s.read(2)))
	case 127:
		length = binary.BigEndian.Uint64(s.read(8))
	}
	var m message
	s.decode(s.read(length), &m)
	return m
}

func (s *Socket) read(n uint64) []byte {
	s.t.Helper()
	data := make([]byte, n)
	if _, err := io.ReadFull(s.reader, data); err != nil {
		s.t.Fatalf("read: %v", err)
	}
	return data
}

func (s *Socket) decode(data []byte, into any) {
	s.t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		s.t.Fatalf("decode %s: %v", data, err)
	}
}

// hijackable hands its connection to a server that upgrades the request.
type hijackable struct {
	*httptest.ResponseRecorder
	conn net.Conn
}

func (h hijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return h.conn, bufio.NewReadWriter(bufio.NewReader(h.conn), bufio.NewWriter(h.conn)), nil
}
