package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// socket is the client's end of a WebSocket that speaks graphql-transport-ws.
type socket struct {
	t      *testing.T
	conn   net.Conn
	reader *bufio.Reader
}

type message struct {
	ID      string          `json:"id,omitempty"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload,omitempty"`
}

func openSocket(t *testing.T, url string) *socket {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/query", nil)
	require.NoError(t, err)
	request.Header = http.Header{
		"Connection":             {"Upgrade"},
		"Upgrade":                {"websocket"},
		"Sec-Websocket-Version":  {"13"},
		"Sec-Websocket-Key":      {"dGhlIHNhbXBsZSBub25jZQ=="},
		"Sec-Websocket-Protocol": {"graphql-transport-ws"},
	}
	require.NoError(t, request.Write(conn))
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, request)
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, response.StatusCode)
	s := &socket{t: t, conn: conn, reader: reader}
	s.send(message{Type: "connection_init"})
	require.Equal(t, "connection_ack", s.receive().Type)
	return s
}

func (s *socket) subscribe(query string) {
	s.t.Helper()
	payload, err := json.Marshal(map[string]string{"query": query})
	require.NoError(s.t, err)
	s.send(message{ID: "1", Type: "subscribe", Payload: payload})
}

const (
	textFrame  = 0x81
	closeFrame = 0x88
)

func (s *socket) send(m message) {
	s.t.Helper()
	payload, err := json.Marshal(m)
	require.NoError(s.t, err)
	s.write(textFrame, payload)
}

// write sends a frame, masked with zeros.
func (s *socket) write(kind byte, payload []byte) {
	s.t.Helper()
	frame := binary.BigEndian.AppendUint16([]byte{kind, 0x80 | 126}, uint16(len(payload)))
	frame = append(frame, 0, 0, 0, 0)
	_, err := s.conn.Write(append(frame, payload...))
	require.NoError(s.t, err)
}

// receive returns the next message but pings, which may come at any time.
func (s *socket) receive() message {
	s.t.Helper()
	for {
		kind, payload := s.read()
		require.EqualValues(s.t, textFrame, kind)
		var received message
		require.NoError(s.t, json.Unmarshal(payload, &received))
		if received.Type != "ping" && received.Type != "pong" {
			return received
		}
	}
}

// expectClose reads up to the server's close frame, and answers it.
func (s *socket) expectClose(code uint16) {
	s.t.Helper()
	kind, payload := s.read()
	for kind == textFrame {
		kind, payload = s.read()
	}
	require.EqualValues(s.t, closeFrame, kind)
	assert.Equal(s.t, code, binary.BigEndian.Uint16(payload))
	s.write(closeFrame, payload)
}

func (s *socket) read() (kind byte, payload []byte) {
	s.t.Helper()
	header := s.readBytes(2)
	length := int(header[1])
	if length == 126 {
		length = int(binary.BigEndian.Uint16(s.readBytes(2)))
	}
	return header[0], s.readBytes(length)
}

func (s *socket) readBytes(n int) []byte {
	s.t.Helper()
	data := make([]byte, n)
	_, err := io.ReadFull(s.reader, data)
	require.NoError(s.t, err)
	return data
}
