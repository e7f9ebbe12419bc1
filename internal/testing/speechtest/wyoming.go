package speechtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
)

// WyomingServer is a mock speech server for Wyoming (protocol 1.7, like wyoming-faster-whisper):
// one utterance on a connection. It hangs up if an event is wrong: sound before audio-start, in
// another format, or after its end.
type WyomingServer struct {
	Address string // tcp://HOST:PORT

	mu    sync.Mutex
	says  func(sound []byte) string
	soFar func(sound []byte) string // nil: it sends no words before the end
	calls []*WyomingCall
	conns map[net.Conn]bool
}

// WyomingCall is what came on one connection.
type WyomingCall struct {
	Sound   []byte // PCM of 16 bit, 16 kHz
	Stopped bool   // the client said that the sound is over
	Over    bool   // the connection has ended
	Wrong   string // the event at which the server hung up
}

// Wyoming starts a server.
func Wyoming(t *testing.T) *WyomingServer {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &WyomingServer{Address: "tcp://" + l.Addr().String(), says: func([]byte) string { return "And so my fellow Americans." }, conns: map[net.Conn]bool{}}
	var work sync.WaitGroup
	work.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.mu.Lock()
			s.conns[c] = true
			s.mu.Unlock()
			work.Go(func() { s.serve(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		s.HangUp()
		work.Wait()
	})
	return s
}

// Says sets what the server hears in the next recordings. If soFar is not nil, it gives the words
// after each second; each result must extend the one before.
func (s *WyomingServer) Says(whole, soFar func(sound []byte) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.says, s.soFar = whole, soFar
}

// HangUp ends all connections, like the end of the server.
func (s *WyomingServer) HangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.conns {
		c.Close()
	}
}

// Calls returns the calls with sound, in the order of their connections.
func (s *WyomingServer) Calls() (out []WyomingCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		out = append(out, *c)
	}
	return out
}

func (s *WyomingServer) serve(c net.Conn) {
	var call *WyomingCall
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		c.Close()
		delete(s.conns, c)
		if call != nil {
			call.Over = true
		}
	}()
	in, sent := bufio.NewReader(c), ""
	for {
		kind, data, payload, err := readWyoming(in)
		if err != nil {
			return
		}
		s.mu.Lock()
		says, soFar := s.says, s.soFar
		wrong := call == nil || call.Stopped
		switch kind {
		case "audio-start":
			if wrong = call != nil; !wrong {
				call = &WyomingCall{}
				s.calls = append(s.calls, call)
			}
		case "audio-chunk":
			if wrong = wrong || data["rate"] != 16000.0 || data["width"] != 2.0 || data["channels"] != 1.0 || len(payload)%2 != 0; !wrong {
				call.Sound = append(call.Sound, payload...)
			}
		case "audio-stop":
			if !wrong {
				call.Stopped = true
			}
		default:
			wrong = false
		}
		if wrong && call != nil {
			call.Wrong = kind
		}
		s.mu.Unlock()
		if wrong {
			return
		}
		switch kind {
		case "describe":
			writeWyoming(c, "info", map[string]any{"asr": []any{map[string]any{"name": "faster-whisper", "supports_transcript_streaming": true}}})
		case "audio-chunk":
			if n := len(call.Sound); soFar != nil && n/32000 > (n-len(payload))/32000 {
				if text := soFar(call.Sound); len(text) > len(sent) {
					if sent == "" {
						writeWyoming(c, "transcript-start", nil)
					}
					writeWyoming(c, "transcript-chunk", map[string]any{"text": text[len(sent):]})
					sent = text
				}
			}
		case "audio-stop":
			writeWyoming(c, "transcript", map[string]any{"text": says(call.Sound), "language": "en"})
			if sent != "" {
				writeWyoming(c, "transcript-stop", nil)
			}
			return
		}
	}
}

func writeWyoming(c net.Conn, kind string, data map[string]any) {
	b, err := json.Marshal(data)
	if err != nil || data == nil {
		b = nil
	}
	fmt.Fprintf(c, "{\"type\": %q, \"version\": \"1.7.1\", \"data_length\": %d}\n%s", kind, len(b), b) // a client that hung up gets nothing
}

func readWyoming(in *bufio.Reader) (kind string, data map[string]any, payload []byte, err error) {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return "", nil, nil, err
	}
	var e struct {
		Type    string         `json:"type"`
		Data    map[string]any `json:"data"`
		More    int            `json:"data_length"`
		Payload int            `json:"payload_length"`
	}
	if err := json.Unmarshal(line, &e); err != nil {
		return "", nil, nil, err
	}
	more := make([]byte, e.More)
	if _, err := io.ReadFull(in, more); err != nil {
		return "", nil, nil, err
	}
	if e.More > 0 {
		if err := json.Unmarshal(more, &e.Data); err != nil {
			return "", nil, nil, err
		}
	}
	payload = make([]byte, e.Payload)
	_, err = io.ReadFull(in, payload)
	return e.Type, e.Data, payload, err
}
