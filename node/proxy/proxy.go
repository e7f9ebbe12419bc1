// Package proxy adds the wearer's memories to requests for a model server. Calls of OpenAI's and
// Ollama's APIs are passed on unchanged, except for an additional message with the memories about
// their topic. The server's answers are returned unchanged, and streamed if they are.
//
//   - The caller is an app with the right to chat, and gets what its scope allows:
//     the block is what the API returns for its key. It never contains the vault.
//   - The ids of the memories that were sent are in the header [UsedHeader].
//   - Keys are kept separate: an app's key is not sent to the model server, and that server's key
//     is not shown to an app.
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

// UsedHeader has the ids of the memories that a model was given.
const UsedHeader = "Locket-Memories"

// MaxBody is the maximum number of bytes of a request, which may contain photos.
const MaxBody = 32 << 20

// Config says which model server is used.
type Config struct {
	URL    string       // without the path: http://127.0.0.1:11434, https://api.openai.com
	Key    serve.Secret // sent as a bearer token; empty: none is sent
	Learn  bool         // learn what the wearer says to the model, if the app may add memories
	Budget int          // tokens of memories in a request; 0: serve.DefaultBudget
	Log    *slog.Logger
}

// headerTime is how long a model may think before it begins to answer.
const headerTime = 10 * time.Minute

// passed has each call that is passed on, and the dialect of its answers.
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

// Doors returns a handler for each call that is passed on. Without a URL each answers with what
// is missing.
func Doors(c Config, api http.Handler) map[string]serve.Door {
	to, err := url.Parse(c.URL)
	if err != nil {
		to = &url.URL{Scheme: "http"} // the settings do not allow such a URL
	}
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	p := &proxy{Config: c, api: api, to: to, bodies: bodies{of: map[string]int{}}}
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

	bodies bodies
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
		body, done, err := p.bodies.read(serve.CallerOf(r.Context()).Name(), r.Body)
		defer done()
		if err == errBodies {
			w.Header().Set("Retry-After", "1")
			d.refuse(w, http.StatusTooManyRequests, err.Error())
			return
		}
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

// remember adds memories to a body, and learns what is said in it.
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
	// This comes after the search, because otherwise it would find what is said now.
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

// learn adds what the wearer said as a line of theirs. It does so once a day, however often a
// client sends it again. If the app may not add memories, nothing is learnt.
func (p *proxy) learn(ctx context.Context, c *serve.Client, said string) error {
	sum := sha256.Sum256([]byte(time.Now().UTC().Format(time.DateOnly) + "\x00" + said))
	_, err := c.Add(ctx, serve.AddRequest{Text: said, Key: "proxy/" + hex.EncodeToString(sum[:])})
	if errors.Is(err, serve.ErrForbidden) {
		return nil
	}
	return err
}

// rewrite directs a request to the model server, without Locket's own headers.
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

// modify removes from an answer what concerns only the node and the model server.
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

// failed answers if the model server does not.
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

// dialect is the API in whose form errors are returned.
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
	_ = json.NewEncoder(w).Encode(v) // a client that has left needs no answer
}
