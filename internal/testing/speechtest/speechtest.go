// Package speechtest has mock speech servers for tests: whisper.cpp's and OpenAI's. They speak the
// real protocols over HTTP and refuse what the real ones refuse. The test decides what they hear.
package speechtest

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Server is a mock server.
type Server struct {
	*httptest.Server
	key string

	mu    sync.Mutex
	says  func(wav []byte) string
	fails func(w http.ResponseWriter) bool
	heard [][]byte
}

// Says sets what the server hears in the next recordings.
func (s *Server) Says(f func(wav []byte) string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.says = f
}

// Fails makes f answer if it returns true; nil: the server works.
func (s *Server) Fails(f func(w http.ResponseWriter) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fails = f
}

// Heard returns the recordings that the server accepted, in order.
func (s *Server) Heard() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([][]byte(nil), s.heard...)
}

func serve(t *testing.T, s *Server, h func(w http.ResponseWriter, r *http.Request)) *Server {
	s.says = func([]byte) string { return " And so my fellow Americans." }
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		fails := s.fails
		s.mu.Unlock()
		if fails == nil || r.Method != http.MethodPost || !fails(w) {
			h(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// Whisper runs whisper.cpp's server (examples/server, 1.7): a page at its root, and POST /inference
// with a file of 16 kHz.
func Whisper(t *testing.T) *Server {
	s := &Server{}
	return serve(t, s, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodGet && r.URL.Path == "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html><head><title>Whisper.cpp Server</title></head><body><h1>Whisper.cpp Server</h1></body></html>")
		case r.Method == http.MethodPost && r.URL.Path == "/inference":
			s.infer(w, r)
		default:
			http.Error(w, "File Not Found ("+r.URL.Path+")", http.StatusNotFound)
		}
	})
}

// infer answers like the real server, which reports errors with status 200.
func (s *Server) infer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	wav, err := file(r)
	if err != nil {
		fmt.Fprint(w, `{"error":"no 'file' field in the request"}`)
		return
	}
	seconds, err := wavSeconds(wav)
	if err != nil {
		fmt.Fprint(w, `{"error":"failed to read WAV file"}`)
		return
	}
	text := s.take(wav)
	answer(w, map[string]any{"task": "transcribe", "language": "english", "duration": seconds, "text": text,
		"segments": []any{map[string]any{"id": 0, "text": text, "start": 0, "end": seconds, "avg_logprob": -0.25, "words": []any{}}}})
}

// OpenAI runs OpenAI's API for speech, with one model, whisper-1. With an empty key, none is
// required.
func OpenAI(t *testing.T, key string) *Server {
	s := &Server{key: key}
	return serve(t, s, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.key != "" && r.Header.Get("Authorization") != "Bearer "+s.key:
			refuse(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided.")
		case r.Method == http.MethodGet && r.URL.Path == "/v1/models":
			answer(w, map[string]any{"object": "list", "data": []any{map[string]any{"id": "whisper-1", "object": "model", "owned_by": "openai-internal"}}})
		case r.Method == http.MethodPost && r.URL.Path == "/v1/audio/transcriptions":
			s.transcribe(w, r)
		default:
			refuse(w, http.StatusNotFound, "", "Invalid URL ("+r.Method+" "+r.URL.Path+")")
		}
	})
}

// maxOpenAI is the largest file that OpenAI accepts.
const maxOpenAI = 25 << 20

func (s *Server) transcribe(w http.ResponseWriter, r *http.Request) {
	wav, err := file(r)
	switch {
	case err != nil:
		refuse(w, http.StatusBadRequest, "", "'file' is a required property")
		return
	case len(wav) > maxOpenAI:
		refuse(w, http.StatusRequestEntityTooLarge, "", "Maximum content size limit (26214400) exceeded")
		return
	case r.FormValue("model") == "":
		refuse(w, http.StatusBadRequest, "", "you must provide a model parameter")
		return
	case r.FormValue("model") != "whisper-1":
		refuse(w, http.StatusNotFound, "model_not_found", "The model does not exist")
		return
	}
	seconds, err := wavSeconds(wav)
	if err != nil || seconds < 0.1 {
		refuse(w, http.StatusBadRequest, "", "Audio file is too short. Minimum audio length is 0.1 seconds.")
		return
	}
	switch format := r.FormValue("response_format"); format {
	case "", "json":
		answer(w, map[string]any{"text": strings.TrimSpace(s.take(wav))})
	case "verbose_json":
		text := s.take(wav)
		answer(w, map[string]any{"task": "transcribe", "language": "english", "duration": seconds, "text": strings.TrimSpace(text),
			"segments": []any{map[string]any{"id": 0, "start": 0, "end": seconds, "text": text, "avg_logprob": -0.25}}})
	default:
		refuse(w, http.StatusBadRequest, "", "response_format '"+format+"' is not compatible with model")
	}
}

func (s *Server) take(wav []byte) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(s.heard, wav)
	return s.says(wav)
}

func file(r *http.Request) ([]byte, error) {
	if err := r.ParseMultipartForm(maxOpenAI); err != nil {
		return nil, err
	}
	f, _, err := r.FormFile("file")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// wavSeconds reads the header of a WAV file, in the format that whisper.cpp accepts.
func wavSeconds(b []byte) (float64, error) {
	if len(b) < 44 || string(b[:4]) != "RIFF" || string(b[8:16]) != "WAVEfmt " || binary.LittleEndian.Uint16(b[20:]) != 1 {
		return 0, fmt.Errorf("not a WAV file of PCM")
	}
	channels, rate, bits := binary.LittleEndian.Uint16(b[22:]), binary.LittleEndian.Uint32(b[24:]), binary.LittleEndian.Uint16(b[34:])
	if rate != 16000 || channels != 1 || bits != 16 {
		return 0, fmt.Errorf("%d Hz, %d channels, %d bit", rate, channels, bits)
	}
	return float64(len(b)-44) / 32000, nil
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // a client that hung up gets nothing
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "code": code}})
}
