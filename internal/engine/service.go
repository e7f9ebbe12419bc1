package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/cutoff"
	"github.com/locket-dev/locket/internal/dialfault"
	"github.com/locket-dev/locket/internal/retry"
)

// Service is an engine that is reached over HTTP.
type Service struct {
	Engine  string        // name for faults
	URL     string        // of the endpoint, complete
	Key     string        // sent as a bearer token; empty: none
	Timeout time.Duration // timeout of the whole answer; 0: 5 min
	Client  *http.Client  // nil: one without redirects, over cutoff.Transport
}

// maxAnswer is how many bytes of an answer are read. A transcript of an hour
// with the time of every word takes about 2 MB.
const maxAnswer = 8 << 20

// MaxAfter limits Retry-After.
const MaxAfter = time.Hour

// noRedirect: a redirect would send the recording to a host that was not
// configured.
var noRedirect = &http.Client{Transport: cutoff.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// Field is one field of a form. It is a file if Name is set.
type Field struct {
	Key, Value string
	Name       string // file name
	Data       []byte // of the file
}

// PostForm sends a multipart form and decodes the JSON answer into out. An
// error is a *Fault, or that of ctx.
func (s *Service) PostForm(ctx context.Context, fields []Field, out any) error {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, f := range fields {
		if f.Name == "" {
			if err := w.WriteField(f.Key, f.Value); err != nil {
				return fmt.Errorf("%s: write the form: %w", s.Engine, err)
			}
			continue
		}
		part, err := w.CreateFormFile(f.Key, f.Name)
		if err == nil {
			_, err = part.Write(f.Data)
		}
		if err != nil {
			return fmt.Errorf("%s: write the form: %w", s.Engine, err)
		}
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("%s: write the form: %w", s.Engine, err)
	}
	return s.post(ctx, w.FormDataContentType(), body.Bytes(), out)
}

func (s *Service) post(ctx context.Context, contentType string, body []byte, out any) error {
	limit := s.Timeout
	if limit <= 0 {
		limit = 5 * time.Minute
	}
	run, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := http.NewRequestWithContext(run, http.MethodPost, s.URL, bytes.NewReader(body))
	if err != nil {
		return Faultf(s.Engine, Missing, "its address can't be used: %v", err)
	}
	req.Header.Set("Content-Type", contentType)
	req.Header.Set("Accept", "application/json")
	if s.Key != "" {
		req.Header.Set("Authorization", "Bearer "+s.Key)
	}
	client := s.Client
	if client == nil {
		client = noRedirect
	}
	resp, err := client.Do(req)
	if err != nil {
		return s.broke(ctx, run, limit, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return s.broke(ctx, run, limit, err)
	}
	if len(b) > maxAnswer {
		return Faultf(s.Engine, Babbled, "more than %d bytes", maxAnswer)
	}
	if resp.StatusCode != http.StatusOK {
		return s.status(resp, b)
	}
	if err := json.Unmarshal(b, out); err != nil {
		if retry.Away(resp.Header, b) {
			return Faultf(s.Engine, Gone, "%s: a page of HTML in place of JSON", resp.Status)
		}
		return Faultf(s.Engine, Babbled, "not the JSON that was asked for: %v", err)
	}
	return nil
}

func (s *Service) broke(ctx, run context.Context, limit time.Duration, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(run.Err(), context.DeadlineExceeded):
		return Faultf(s.Engine, Slow, "no answer within %s", limit)
	}
	return Faultf(s.Engine, Gone, "%s", dialfault.Words(err))
}

// status makes a fault of an answer that is not 200.
func (s *Service) status(resp *http.Response, body []byte) error {
	said := string(body)
	switch {
	case retry.Away(resp.Header, body):
		said = "a page of HTML"
	case s.Key != "": // some servers repeat it
		said = strings.ReplaceAll(said, s.Key, "[key]")
	}
	if said = resp.Status + ": " + said; len(body) == 0 {
		said = resp.Status
	}
	f := Faultf(s.Engine, Refused, "%s", said)
	switch c := resp.StatusCode; {
	case c == http.StatusTooManyRequests || c == http.StatusServiceUnavailable:
		f.Kind, f.After = Busy, retry.Asked(resp.Header.Get("Retry-After"), time.Now(), MaxAfter)
	case c == http.StatusRequestTimeout || c >= 500:
		f.Kind = Gone
	case c == http.StatusUnauthorized || c == http.StatusForbidden:
		return WantsKey(s.Engine, s.Key != "", said)
	case c >= 300 && c < 400:
		return Faultf(s.Engine, Moved, "%s", dialfault.Elsewhere(resp))
	case c == http.StatusNotFound || c < 300:
		f.Kind = Missing // the address is wrong, not the input
	}
	return f
}
