// Package proxy puts the wearer's memory in front of a model server: OpenAI's calls and
// Ollama's go to it as they came, with what is remembered of their topic as a message
// more, and its answers come back as they are, streamed where they are.
//
//   - Who asks is an app, with the right to chat, and is given what its scope allows:
//     the block is what the API gives its key. The vault is never in it.
//   - The ids of the memories that went up are in the header [UsedHeader].
//   - Keys stay apart: an app's is not sent to the model server, nor is that server's
//     shown to an app.
//
// docs/clients.md says what is passed on.
package proxy

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/memory/retrieve"
	"github.com/locket-dev/locket/node/serve"
)

// UsedHeader names the memories that a model was given, by their ids.
const UsedHeader = "Locket-Memories"

// MaxBody is the most bytes of a request: photos may be in it.
const MaxBody = 32 << 20

// Config says which model server there is.
type Config struct {
	URL    string       // without the path: http://127.0.0.1:11434, https://api.openai.com
	Key    serve.Secret // sent as a bearer token; empty: none is
	Learn  bool         // what the wearer says to the model is learnt, where the app may add
	Budget int          // tokens of memories in a request; 0: serve.DefaultBudget
	Log    *slog.Logger
}

// headerTime is how long a model may think before it begins to answer.
const headerTime = 10 * time.Minute

// passed is each call that goes through, and the words in which it is answered.
var passed = map[string]dialect{
	"GET /v1/models":            openAI,
	"GET /v1/models/{model...}": openAI,
	"POST /v1/chat/completions": openAI,
	"POST /v1/responses":        openAI,
	"GET /api/tags":             ollama,
	"GET /api/version":          ollama,
	"POST /api/show":            ollama,
	"POST /api/chat":            ollama,
	"POST /api/generate":        ollama,
}

// Doors gives a handler for each call that goes through. Without a URL each says what is missing.
func Doors(c Config, api http.Handler) map[string]serve.Door {
	to, err := url.Parse(c.URL)
	if err != nil {
		to = &url.URL{Scheme: "http"} // which the settings refuse
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	p := &proxy{Config: c, api: api, to: to}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = headerTime
	p.out = &httputil.ReverseProxy{Rewrite: p.rewrite, Transport: transport, FlushInterval: -1, ModifyResponse: modify, ErrorHandler: failed,
		ErrorLog: slog.NewLogLogger(c.Log.Handler(), slog.LevelDebug)}
	doors := map[string]serve.Door{}
	for pattern, d := range passed {
		doors[pattern] = serve.Door{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { p.serve(w, r, d) }), Needs: serve.RightChat, Body: MaxBody}
	}
	return doors
}

type proxy struct {
	Config
	api http.Handler
	to  *url.URL
	out *httputil.ReverseProxy
}

type dialectKey struct{}

// serve passes one request on.
func (p *proxy) serve(w http.ResponseWriter, r *http.Request, d dialect) {
	r = r.WithContext(context.WithValue(r.Context(), dialectKey{}, d))
	if p.URL == "" {
		d.refuse(w, http.StatusNotImplemented, "this node has no model server: proxy.url names one, see docs/clients.md")
		return
	}
	if path.Clean(r.URL.Path) != r.URL.Path {
		d.refuse(w, http.StatusNotFound, "no such path")
		return
	}
	if r.Method == http.MethodPost {
		body, err := io.ReadAll(r.Body)
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			d.refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", MaxBody))
			return
		}
		if err != nil {
			d.refuse(w, http.StatusBadRequest, "the body ended early")
			return
		}
		if add := adders[r.URL.Path]; add != nil {
			if body, err = p.remember(w, r, body, add); err != nil {
				status, text := http.StatusInternalServerError, err.Error()
				if problem, ok := errors.AsType[*serve.Problem](err); ok {
					problem.Header(w.Header())
					status = problem.Status
				} else if errors.Is(err, errBody) {
					status = http.StatusBadRequest
				}
				d.refuse(w, status, text)
				return
			}
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	}
	p.out.ServeHTTP(w, r)
}

// remember puts what is remembered into a body, and learns what is said in it.
func (p *proxy) remember(w http.ResponseWriter, r *http.Request, body []byte, add adder) ([]byte, error) {
	talk, err := add(body)
	if err != nil {
		return nil, err
	}
	if len(talk.turns) == 0 {
		return body, nil
	}
	c := serve.AsApp(p.api, r)
	got, err := c.Context(r.Context(), serve.ContextRequest{Messages: talk.turns, Budget: p.Budget})
	if err != nil {
		return nil, err
	}
	// After that, or what is said now would be what is remembered of it.
	if said := strings.TrimSpace(talk.last); p.Learn && said != "" && len(said) <= memory.MaxText {
		if err := p.learn(r.Context(), c, said); err != nil {
			return nil, err
		}
	}
	if got.Text == "" {
		return body, nil
	}
	ids := make([]string, len(got.Items))
	for i, it := range got.Items {
		ids[i] = it.ID.String()
	}
	w.Header().Set(UsedHeader, strings.Join(ids, ","))
	return talk.with(retrieve.Fence(got.Text))
}

// learn takes what the wearer said as a line of theirs, once a day however often a
// client sends it again. An app that may not add teaches nothing.
func (p *proxy) learn(ctx context.Context, c *serve.Client, said string) error {
	sum := sha256.Sum256([]byte(time.Now().UTC().Format(time.DateOnly) + "\x00" + said))
	_, err := c.Add(ctx, serve.AddRequest{Text: said, Key: "proxy/" + hex.EncodeToString(sum[:])})
	if errors.Is(err, serve.ErrForbidden) {
		return nil
	}
	return err
}

// rewrite has a request go to the model server, without what is ours.
func (p *proxy) rewrite(r *httputil.ProxyRequest) {
	r.Out.URL.Scheme, r.Out.URL.Host = p.to.Scheme, p.to.Host
	r.Out.URL.Path, r.Out.URL.RawPath = strings.TrimRight(p.to.Path, "/")+r.In.URL.Path, ""
	r.Out.URL.RawQuery = ""
	r.Out.Host = p.to.Host
	h := http.Header{}
	for _, name := range []string{"Accept", "Content-Type", "User-Agent"} {
		if v := r.In.Header.Get(name); v != "" {
			h.Set(name, v)
		}
	}
	if p.Key != "" {
		h.Set("Authorization", "Bearer "+string(p.Key))
	}
	r.Out.Header = h
}

var errElsewhere = errors.New("the model server redirects to another address, to which nothing of the wearer's is sent")

// modify takes from an answer what is between the node and the model server.
func modify(res *http.Response) error {
	if res.StatusCode/100 == 3 {
		return errElsewhere
	}
	for name := range res.Header {
		if strings.HasPrefix(name, "Access-Control-") || name == "Set-Cookie" || name == UsedHeader {
			res.Header.Del(name)
		}
	}
	return nil
}

// failed answers where the model server does not.
func failed(w http.ResponseWriter, r *http.Request, err error) {
	d, _ := r.Context().Value(dialectKey{}).(dialect)
	if cause := context.Cause(r.Context()); errors.Is(cause, serve.ErrKey) {
		d.refuse(w, http.StatusUnauthorized, cause.Error())
		return
	}
	if !errors.Is(err, errElsewhere) {
		err = errors.New("the model server does not answer: is it running at proxy.url?")
	}
	w.Header().Del(UsedHeader)
	d.refuse(w, http.StatusBadGateway, err.Error())
}

// dialect is in whose words errors are told.
type dialect int

const (
	openAI dialect = iota
	ollama
)

func (d dialect) refuse(w http.ResponseWriter, status int, text string) {
	var v any = map[string]string{"error": text}
	if d == openAI {
		v = map[string]any{"error": map[string]any{"message": text, "type": "locket", "code": nil, "param": nil}}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // who went away needs no answer
}
