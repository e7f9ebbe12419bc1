// Package record answers a language model's requests from files, so that a test
// uses only what a real model once answered.
//
// A record is a request and its response, in a file named after the request:
// the SHA-256 of its method, path and canonical JSON body, in hexadecimal. If
// one byte of a prompt changes, there is no record for the request, and the
// error names the missing file. Headers are not stored, so that no key can be.
package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// Record is one file.
type Record struct {
	Method   string          `json:"method"`
	Path     string          `json:"path"`
	Request  json.RawMessage `json:"request"`
	Status   int             `json:"status"`
	Response json.RawMessage `json:"response"`
	Model    string          `json:"recorded_of,omitempty"` // who answered: a model, or a mock server
	At       time.Time       `json:"recorded_at,omitzero"`
}

// ErrMissing: there is no record of a request.
var ErrMissing = errors.New("no record of this request")

// Player is an http.RoundTripper that answers from the records in Dir. It is
// safe for concurrent use.
type Player struct {
	Dir string
	// Next gets requests without a record, and its answers are recorded. nil:
	// such requests fail.
	Next  http.RoundTripper
	Model string // stored with Next's answers
}

// maxBody limits a request and a response, in bytes.
const maxBody = 4 << 20

// Key returns the name of a request's record: with sorted object members, without spaces in
// between.
func Key(method, path string, body []byte) (string, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return "", fmt.Errorf("record: a request that is not JSON: %w", err)
	}
	canonical, err := json.Marshal(v) // maps are encoded sorted
	if err != nil {
		return "", fmt.Errorf("record: %w", err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %s\n", method, path)
	h.Write(canonical)
	return hex.EncodeToString(h.Sum(nil)), nil
}

// RoundTrip implements http.RoundTripper.
func (p *Player) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		defer r.Body.Close()
		var err error
		if body, err = io.ReadAll(io.LimitReader(r.Body, maxBody+1)); err != nil {
			return nil, fmt.Errorf("record: read a request: %w", err)
		}
		if len(body) > maxBody {
			return nil, fmt.Errorf("record: a request of more than %d bytes", maxBody)
		}
	}
	key, err := Key(r.Method, r.URL.Path, body)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(p.Dir, key+".json")
	b, err := os.ReadFile(file)
	switch {
	case err == nil:
		var rec Record
		if err := json.Unmarshal(b, &rec); err != nil {
			return nil, fmt.Errorf("record: %s: %w", file, err)
		}
		if again, err := Key(rec.Method, rec.Path, rec.Request); err != nil || again != key {
			return nil, fmt.Errorf("record: %s: is of another request than its name says", file)
		}
		return answer(r, rec.Status, rec.Response), nil
	case !errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("record: %w", err)
	case p.Next == nil:
		return nil, fmt.Errorf("%w: want %s", ErrMissing, file)
	}
	return p.record(r, body, file)
}

// record sends a request to Next and records the answer. Answers that are not
// JSON, and failures, are returned and not recorded.
func (p *Player) record(r *http.Request, body []byte, file string) (*http.Response, error) {
	out := r.Clone(r.Context())
	out.Body = io.NopCloser(bytes.NewReader(body))
	res, err := p.Next.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusOK && json.Valid(got) {
		rec, err := json.MarshalIndent(Record{Method: r.Method, Path: r.URL.Path, Request: body, Status: res.StatusCode, Response: got, Model: p.Model, At: time.Now().UTC()}, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("record: %w", err)
		}
		if err := os.MkdirAll(p.Dir, 0o700); err != nil {
			return nil, fmt.Errorf("record: %w", err)
		}
		if err := os.WriteFile(file, append(rec, '\n'), 0o600); err != nil {
			return nil, fmt.Errorf("record: %w", err)
		}
	}
	return answer(r, res.StatusCode, got), nil
}

func answer(r *http.Request, status int, body []byte) *http.Response {
	return &http.Response{StatusCode: status, Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r}
}
