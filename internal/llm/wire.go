package llm

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/locket-dev/locket/internal/dialfault"
	"github.com/locket-dev/locket/internal/retry"
)

// baseURL parses an endpoint's address. Without a path, /v1 is assumed.
func baseURL(address string) (*url.URL, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("want a URL such as http://127.0.0.1:11434/v1")
	}
	if strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1"
	}
	return u, nil
}

// caller sends JSON to a server and reads its JSON.
type caller struct {
	key    string // sent as a bearer token; empty: none
	client *http.Client
}

func newCaller(key string, next http.RoundTripper, mostBytes int64) *caller {
	return &caller{key: key, client: &http.Client{Transport: &bounded{next: next, most: mostBytes}, CheckRedirect: noRedirect}}
}

// call sends in, or nothing if it is nil, and reads the answer into out. An error is a *Fault, or
// that of ctx.
func (c *caller) call(ctx context.Context, timeout time.Duration, method, to string, in, out any) error {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(b)
	}
	run, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(run, method, to, body)
	if err != nil {
		return err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	res, err := c.client.Do(req)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && run.Err() != nil:
		return faultf(Slow, 0, "no answer within %s", timeout)
	case err != nil:
		if f, ok := errors.AsType[*Fault](err); ok {
			return f
		}
		return faultf(Gone, 0, "%s", c.withoutKey(dialfault.Words(err)))
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body) // it is in memory, and limited, by now
	if err != nil {
		return faultf(Gone, res.StatusCode, "the answer broke off")
	}
	if status := res.StatusCode; status/100 != 2 || bytes.Contains(b, []byte(`"error"`)) {
		if status, message := failure(b, status); status/100 != 2 {
			return ofStatus(status, res.Header, c.withoutKey(message))
		}
	}
	if err := json.Unmarshal(b, out); err != nil {
		if retry.Away(res.Header, b) {
			return faultf(Gone, res.StatusCode, "%d: a page of HTML in place of JSON", res.StatusCode)
		}
		return faultf(Babbled, res.StatusCode, "not the JSON of the protocol")
	}
	return nil
}

// failure returns the status of an answer, and what went wrong in the server's words. OpenAI, Ollama,
// llama.cpp and vLLM have an object in error, and LM Studio a text; older vLLM has a message, and
// FastAPI a detail. OpenRouter and LM Studio also answer 200 with an error in place of what was asked
// for.
func failure(b []byte, status int) (int, string) {
	var e struct {
		Error, Message loose
		Detail         json.RawMessage
		Code           tokenCount // HTTP's, or a name, which counts as none
	}
	_ = json.Unmarshal(b, &e) // an answer that is not JSON has no message
	if status/100 == 2 {
		if e.Error == "" {
			return status, ""
		}
		status = http.StatusInternalServerError
	}
	_ = json.Unmarshal([]byte(e.Error), &e)
	if status == http.StatusInternalServerError && e.Code >= 400 && e.Code < 600 {
		status = int(e.Code)
	}
	return status, cmp.Or(string(e.Message), string(e.Error), string(e.Detail))
}

// withoutKey removes the key from a message, because some servers repeat it.
func (c *caller) withoutKey(s string) string {
	if c.key != "" {
		s = strings.ReplaceAll(s, c.key, "[key]")
	}
	return s
}
