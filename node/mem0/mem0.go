// Package mem0 answers the calls of Mem0's clients, for both its hosted and its self-hosted server,
// with calls of the local API.
//
// A caller is an app with a key, and gets what the API gives that key. user_id, agent_id and run_id
// are a memory's owner. Locket has no app_id: it is stored in the metadata and shown separately.
// Ids are Locket's, written as UUIDs.
//
// docs/clients.md has a table of what is supported. Anything else is answered with 501 and its
// name, and has no effect.
package mem0

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// Prefix is the path of the handler.
const Prefix = "/mem0"

// call is one request.
type call struct {
	c      *serve.Client
	r      *http.Request
	app    string // the app that makes it
	events *events
	body   map[string]json.RawMessage
}

// Handler handles requests below [Prefix].
func Handler(api http.Handler) http.Handler {
	mux, ring := http.NewServeMux(), &events{app: map[string][]event{}}
	for pattern, f := range map[string]func(*call) (any, error){
		"GET /v1/ping":                    (*call).ping,
		"POST /v3/memories/add":           (*call).add,
		"POST /v3/memories/search":        (*call).search,
		"POST /v3/memories":               (*call).list,
		"GET /v1/event/{id}":              (*call).event,
		"GET /v1/memories/{id}":           (*call).get,
		"PUT /v1/memories/{id}":           (*call).update,
		"DELETE /v1/memories/{id}":        (*call).delete,
		"GET /v1/memories/{id}/history":   (*call).history,
		"DELETE /v1/memories":             (*call).deleteAll,
		"GET /v1/entities":                (*call).entities,
		"DELETE /v1/entities/{type}/{id}": (*call).deleteEntity,
		"DELETE /v2/entities/{type}/{id}": (*call).deleteEntity,
		"PUT /v1/batch":                   (*call).batchUpdate,
		"DELETE /v1/batch":                (*call).batchDelete,

		// The calls of the self-hosted server.
		"POST /memories":             (*call).addNow,
		"GET /memories":              (*call).listOf,
		"DELETE /memories":           (*call).deleteAll,
		"GET /memories/{id}":         (*call).get,
		"PUT /memories/{id}":         (*call).update,
		"DELETE /memories/{id}":      (*call).delete,
		"GET /memories/{id}/history": (*call).historyOf,
		"POST /search":               (*call).search,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			k := &call{c: serve.AsApp(api, r), r: r, app: serve.CallerOf(r.Context()).Name(), events: ring}
			err := k.readBody()
			var v any
			if err == nil {
				v, err = f(k)
			}
			answer(w, v, err)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		answer(w, nil, &refusal{http.StatusNotImplemented, "Locket has no " + r.Method + " " + r.URL.Path + " of Mem0: see " + serve.Docs + "clients.md"})
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inner := r.Clone(r.Context())
		var err error
		inner.URL.RawPath = "/" + strings.Trim(strings.TrimPrefix(r.URL.EscapedPath(), Prefix), "/")
		if inner.URL.Path, err = url.PathUnescape(inner.URL.RawPath); err != nil || path.Clean(inner.URL.RawPath) != inner.URL.RawPath {
			answer(w, nil, &refusal{http.StatusNotFound, "no such path"}) // the mux would answer with a redirect, which is not JSON
			return
		}
		mux.ServeHTTP(w, inner)
	})
}

// refusal is an error answer.
type refusal struct {
	status int
	detail string
}

func (e *refusal) Error() string { return e.detail }

func bad(format string, a ...any) error {
	return &refusal{http.StatusBadRequest, fmt.Sprintf(format, a...)}
}

// answer always writes JSON, because clients read the body of errors, too.
func answer(w http.ResponseWriter, v any, err error) {
	status := http.StatusOK
	if err != nil {
		status = http.StatusInternalServerError
		var own *refusal
		var p *serve.Problem
		switch {
		case errors.As(err, &own):
			status = own.status
		case errors.As(err, &p):
			p.Header(w.Header())
			status = p.Status
			if status == http.StatusUnprocessableEntity {
				status = http.StatusBadRequest
			}
		}
		v = map[string]string{"error": http.StatusText(status), "detail": err.Error()}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that has left is not our error
}

// readBody parses the members of an object, if there is one.
func (k *call) readBody() error {
	b, err := io.ReadAll(k.r.Body)
	if err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			return &refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", serve.MaxBody)}
		}
		return bad("the body ended early")
	}
	if len(b) == 0 {
		return nil
	}
	if !utf8.Valid(b) {
		return bad("the body is not UTF-8")
	}
	if err := json.Unmarshal(b, &k.body); err != nil {
		return bad("the body is not a JSON object: %s", worded(err))
	}
	return nil
}

// pop reads a member of the body into v and removes it from the body; if it is absent or null, v
// stays.
func (k *call) pop(name string, v any) error {
	raw, ok := k.body[name]
	delete(k.body, name)
	if !ok {
		return nil
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return bad("%s: %s", name, worded(err))
	}
	return nil
}

// worded describes what is wrong with a member in terms of JSON: encoding/json uses Go's types.
func worded(err error) string {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err.Error()
	}
	want := "an object"
	switch wrong.Type.Kind() {
	case reflect.String:
		want = "a text"
	case reflect.Bool:
		want = "true or false"
	case reflect.Int, reflect.Float64:
		want = "a number"
	case reflect.Slice:
		want = "a list"
	}
	if n, ok := strings.CutPrefix(wrong.Value, "number "); ok { // a number that is too large, or has a fraction
		return n + " where another number is wanted"
	}
	return wrong.Value + " where " + want + " is wanted"
}

// ended refuses members that were not read. An option that Locket does not have must not seem to
// work.
func (k *call) ended(ignored ...string) error {
	for _, name := range ignored {
		delete(k.body, name)
	}
	var left []string
	for name, v := range k.body {
		if string(v) != "null" {
			left = append(left, name)
		}
	}
	slices.Sort(left)
	if len(left) > 0 {
		return bad("%s: Locket does not take this; see %sclients.md", strings.Join(left, ", "), serve.Docs)
	}
	return nil
}

// owner is the owner of the memories that a request is about.
type owner struct{ user, agent, app, run string }

// takeOwner reads the owner from the body.
func (k *call) takeOwner() (o owner, err error) {
	err = errors.Join(k.pop("user_id", &o.user), k.pop("agent_id", &o.agent), k.pop("app_id", &o.app), k.pop("run_id", &o.run))
	return o, err
}

// takeFiltersOwner reads the owner from the filters of an add, where Mem0's Python client puts it.
// o is the owner that was given outside of them.
func (k *call) takeFiltersOwner(o owner) (owner, error) {
	var in map[string]string
	if err := k.pop("filters", &in); err != nil {
		return o, bad("%v: when memories are added, filters can have only user_id, agent_id, app_id and run_id", err)
	}
	for name, v := range in {
		to, ok := map[string]*string{"user_id": &o.user, "agent_id": &o.agent, "app_id": &o.app, "run_id": &o.run}[name]
		switch {
		case !ok:
			return o, bad("filters.%.40s: when memories are added, filters can have only user_id, agent_id, app_id and run_id", name)
		case *to != "" && *to != v:
			return o, bad("filters.%s: %.40q, and %s beside it is %.40q", name, v, name, *to)
		}
		*to = v
	}
	return o, nil
}

var ownerIDs = []string{"user_id", "agent_id", "app_id", "run_id"}

// queryOwner reads the owner from the query string. Other parameters than these four and those in
// beside are refused, because they would have selected fewer memories.
func (k *call) queryOwner(beside ...string) (owner, error) {
	q := k.r.URL.Query()
	for name, v := range q {
		if !slices.Contains(ownerIDs, name) && !slices.Contains([]string{"org_id", "project_id"}, name) && !slices.Contains(beside, name) {
			return owner{}, bad("%.40s: Locket does not take this; see %sclients.md", name, serve.Docs)
		}
		if len(v) > 1 {
			return owner{}, bad("%s: it is there %d times", name, len(v))
		}
		if v[0] == "" && slices.Contains(ownerIDs, name) {
			return owner{}, bad("%s: it is empty, so it would select nothing", name)
		}
	}
	return owner{q.Get("user_id"), q.Get("agent_id"), q.Get("app_id"), q.Get("run_id")}, nil
}

// filters returns the owner as a filter of Mem0.
func (o owner) filters() map[string]any {
	out := map[string]any{}
	for name, v := range map[string]string{"user_id": o.user, "agent_id": o.agent, "app_id": o.app, "run_id": o.run} {
		if v != "" {
			out[name] = v
		}
	}
	return out
}

func (k *call) ping() (any, error) {
	return map[string]string{"status": "ok", "org_id": "locket", "project_id": "locket", "user_email": k.app}, nil
}

// uuid writes an id in the form of Mem0's ids.
func uuid(id memory.ID) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// idOf parses an id in either spelling.
func idOf(s string) string {
	if b, err := hex.DecodeString(strings.ReplaceAll(s, "-", "")); err == nil && len(s) == 36 && len(b) == len(memory.ID{}) {
		return memory.ID(b).String()
	}
	return s
}
