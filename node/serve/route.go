package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"reflect"
	"strings"
)

// A route is written once: the [Right] that it needs, a [spec], and a function over its topic's
// service. The handler, the client's call, the input checks and docs/openapi.yaml are made from it.
// To add a route, write it in its topic's file and add it to the topic's list, add a method to the
// topic's interface, and implement the method. If apps may call it, package apps also needs the
// method, which checks what the app may see.

// spec describes a route.
type spec struct {
	method, path string
	id           string // name of the operation, unique in the document
	summary      string // one line
	about        string // details that the summary leaves out
	gives        string // what a successful answer contains
	made         bool   // success is 201, not 200
	optional     bool   // the body may be left out
	alone        bool   // it tries a passphrase; only one such request runs at a time, because scrypt takes much memory
	body         int64  // maximum number of bytes of a body; 0: MaxBody; -1: no limit
	slow         bool   // it streams or waits, so its duration means nothing
}

// Format is a media type with the schema of its content.
type Format struct {
	Media  string
	Type   reflect.Type   // nil: Schema
	Schema map[string]any // JSON Schema of something that is not a type of ours
}

func jsonOf[T any](media string) Format { return Format{Media: media, Type: reflect.TypeFor[T]()} }

func schema(media string, keys ...string) Format {
	f := Format{Media: media, Schema: map[string]any{}}
	for i := 0; i+1 < len(keys); i += 2 {
		f.Schema[keys[i]] = keys[i+1]
	}
	return f
}

// none is the input of a route without input.
type none struct{}

// route is one method of one path, over a service S, from an input I to an answer A. See inputOf
// for the possible I. Everything that does not depend on the types is in routeCore, which is
// compiled only once: the compiler generates code and long names for each set of type arguments,
// and every route has its own set. For the same reason the type has no methods and embeds nothing:
// the compiler generates all methods of a type, whether they are called or not.
type route[S, I, A any] struct{ untyped untyped[S] }

// untyped is a route over a service S, whatever its input and answer are.
type untyped[S any] struct{ core *routeCore }

type routeCore struct {
	spec
	needs   Right
	zero    reflect.Type // of the input
	in      *input
	bodies  []Format                                                      // what a body may be, if it is not the input as JSON
	answers []Format                                                      // what an answer may be
	do      reflect.Value                                                 // func(S, context.Context, I or its fields) (A, error), or a list instead of A
	spread  bool                                                          // do takes the input's fields one by one
	write   func(w http.ResponseWriter, r *http.Request, s, in any) error // used instead of do
}

// plainRoute makes a route without input that answers in JSON.
func plainRoute[S, A any](needs Right, p spec, f func(S, context.Context) (A, error)) route[S, none, A] {
	return route[S, none, A]{untyped[S]{jsonCore(needs, p, f, reflect.TypeFor[none]())}}
}

// jsonRoute makes a route that answers in JSON.
func jsonRoute[S, I, A any](needs Right, p spec, f func(S, context.Context, I) (A, error)) route[S, I, A] {
	return route[S, I, A]{untyped[S]{jsonCore(needs, p, f, reflect.TypeFor[I]())}}
}

// fieldRoute is jsonRoute for a service whose method takes the only field of the input I.
func fieldRoute[I, S, F, A any](needs Right, p spec, f func(S, context.Context, F) (A, error)) route[S, I, A] {
	return route[S, I, A]{untyped[S]{jsonCore(needs, p, f, reflect.TypeFor[I]())}}
}

// fieldsRoute is jsonRoute for a service whose method takes the two fields of the input I, which
// have different types.
func fieldsRoute[I, S, F, G, A any](needs Right, p spec, f func(S, context.Context, F, G) (A, error)) route[S, I, A] {
	return route[S, I, A]{untyped[S]{jsonCore(needs, p, f, reflect.TypeFor[I]())}}
}

// list is a route whose service returns a list. Its answer is a struct with that list as its only
// field.
type list[S, I, T any] struct{ untyped untyped[S] }

// plainList is plainRoute for a list, with the answer type A.
func plainList[A, S, T any](needs Right, p spec, f func(S, context.Context) ([]T, error)) list[S, none, T] {
	return list[S, none, T]{untyped[S]{listCore(needs, p, f, reflect.TypeFor[none](), reflect.TypeFor[A]())}}
}

// listRoute is jsonRoute for a list, with the answer type A.
func listRoute[A, S, I, T any](needs Right, p spec, f func(S, context.Context, I) ([]T, error)) list[S, I, T] {
	return list[S, I, T]{untyped[S]{listCore(needs, p, f, reflect.TypeFor[I](), reflect.TypeFor[A]())}}
}

// fieldList is fieldRoute for a list, with the answer type A.
func fieldList[A, I, S, F, T any](needs Right, p spec, f func(S, context.Context, F) ([]T, error)) list[S, I, T] {
	return list[S, I, T]{untyped[S]{listCore(needs, p, f, reflect.TypeFor[I](), reflect.TypeFor[A]())}}
}

// listCore makes the common part of routes that answer with a list.
func listCore(needs Right, p spec, f any, in, answer reflect.Type) *routeCore {
	rt := jsonCore(needs, p, f, in)
	if answer.NumField() != 1 || answer.Field(0).Type != rt.answers[0].Type {
		panic(p.id + ": the answer is not the list alone") // at program start
	}
	rt.answers[0].Type = answer
	return rt
}

// jsonCore makes the common part of routes that answer in JSON.
func jsonCore(needs Right, p spec, f any, in reflect.Type) *routeCore {
	t := reflect.TypeOf(f)
	rt := newRouteCore(needs, p, in, Format{Media: "application/json", Type: t.Out(0)})
	rt.do = reflect.ValueOf(f)
	if rt.spread = t.NumIn() == 2 || t.In(2) != in; rt.spread && !takesFields(t, in) {
		panic(p.id + ": the method takes other fields than the input's") // at program start
	}
	return rt
}

// takesFields reports whether a service's method takes the fields of an input in their order. The
// fields must have different types, because otherwise nobody would notice if they were swapped.
func takesFields(method, in reflect.Type) bool {
	n := in.NumField()
	if n != method.NumIn()-2 || n == 2 && in.Field(0).Type == in.Field(1).Type {
		return false
	}
	for i := range n {
		if in.Field(i).Type != method.In(2+i) {
			return false
		}
	}
	return true
}

// answer returns a pointer to the answer.
func (rt *routeCore) answer(ctx context.Context, s any, in reflect.Value) (reflect.Value, error) {
	args := []reflect.Value{reflect.ValueOf(s), reflect.ValueOf(ctx)}
	if rt.spread {
		for _, v := range in.Fields() {
			args = append(args, v)
		}
	} else {
		args = append(args, in)
	}
	out := rt.do.Call(args)
	v := reflect.New(rt.answers[0].Type)
	to := v.Elem()
	if to.Type() != out[0].Type() {
		to = to.Field(0) // see list
	}
	to.Set(out[0])
	err, _ := out[1].Interface().(error)
	return v, err
}

// streamRoute makes a route that answers in lines of JSON.
func streamRoute[S, I, A any](needs Right, p spec, f func(S, context.Context, I) iter.Seq2[A, error]) route[S, I, A] {
	p.slow = true
	rt := newRouteCore(needs, p, reflect.TypeFor[I](), jsonOf[A](MediaTypeLines))
	rt.write = func(w http.ResponseWriter, r *http.Request, s, in any) error {
		return writeLines(w, f(s.(S), r.Context(), *in.(*I)))
	}
	return route[S, I, A]{untyped[S]{rt}}
}

// rawRoute makes a route that writes its answer itself.
func rawRoute[S, I, A any](needs Right, p spec, answers []Format, f func(w http.ResponseWriter, r *http.Request, s S, in I) error) route[S, I, A] {
	p.slow = true
	rt := newRouteCore(needs, p, reflect.TypeFor[I](), answers...)
	rt.write = func(w http.ResponseWriter, r *http.Request, s, in any) error { return f(w, r, s.(S), *in.(*I)) }
	return route[S, I, A]{untyped[S]{rt}}
}

func newRouteCore(needs Right, p spec, in reflect.Type, answers ...Format) *routeCore {
	return &routeCore{spec: p, needs: needs, zero: in, in: inputOf(in), answers: answers}
}

// withLineBody makes a route whose body is lines of JSON, which it reads itself.
func withLineBody[L, S, I, A any](rt route[S, I, A]) route[S, I, A] {
	rt.untyped.core.bodies = []Format{jsonOf[L](MediaTypeLines)}
	return rt
}

// checked is an input with rules beyond its types. check may set defaults.
type checked interface{ check() error }

// bound is a route with its service.
type bound struct {
	*routeCore
	service any
}

// topic is a list of routes over one service.
type topic[S any] []untyped[S]

func (t topic[S]) with(s S) []bound {
	out := make([]bound, len(t))
	for i, rt := range t {
		out[i] = bound{rt.core, s}
	}
	return out
}

// serve answers a request.
func (b bound) serve(h *handler, w http.ResponseWriter, r *http.Request) error {
	if b.service == nil {
		return kindUnsupported.problem("", "this node does not offer this service")
	}
	in := reflect.New(b.zero)
	if err := b.in.read(r, in.Elem(), b.bodies == nil, b.optional); err != nil {
		return err
	}
	if c, ok := in.Interface().(checked); ok {
		if err := c.check(); err != nil {
			return err
		}
	}
	if b.alone {
		h.keys.Lock()
		defer h.keys.Unlock()
	}
	if b.write != nil {
		return b.write(w, r, b.service, in.Interface())
	}
	v, err := b.answer(r.Context(), b.service, in.Elem())
	if err != nil {
		return err
	}
	fillLists(v.Elem())
	status := http.StatusOK
	if b.made {
		status = http.StatusCreated
	}
	writeJSON(w, status, "application/json", v.Interface())
	return nil
}

// call calls a node through a route and returns its answer.
func call[S, I, A any](ctx context.Context, c *Client, rt route[S, I, A], in I) (v A, err error) {
	err = rt.untyped.core.ask(ctx, c, &in, &v) // which sets v; in a single statement, Go may read v before that
	return v, err
}

// items calls a node through a route that answers with a list.
func items[S, I, T any](ctx context.Context, c *Client, rt list[S, I, T], in I) ([]T, error) {
	v := reflect.New(rt.untyped.core.answers[0].Type)
	err := rt.untyped.core.ask(ctx, c, &in, v.Interface())
	return v.Elem().Field(0).Interface().([]T), err
}

// send calls a node through a route. accept is the requested media type; empty: any. If no body is
// given, in is the body.
func send[S, I, A any](ctx context.Context, c *Client, rt route[S, I, A], in I, accept string, body io.Reader) (*http.Response, error) {
	return rt.untyped.core.send(ctx, c, &in, accept, body)
}

// stream reads the lines of a route's answer.
func stream[S, I, A any](ctx context.Context, c *Client, rt route[S, I, A], in I) iter.Seq2[A, error] {
	return linesOf[A](ctx, func(ctx context.Context) (*http.Response, error) {
		return rt.untyped.core.send(ctx, c, &in, MediaTypeLines, nil)
	})
}

func (rt *routeCore) ask(ctx context.Context, c *Client, in, v any) error {
	res, err := rt.send(ctx, c, in, "", nil)
	if err != nil {
		return err
	}
	return readAnswer(res, v)
}

func readAnswer(res *http.Response, v any) error {
	defer res.Body.Close()
	if err := json.NewDecoder(io.LimitReader(res.Body, maxAnswer)).Decode(v); err != nil {
		return fmt.Errorf("reading the node's answer: %w", err)
	}
	return nil
}

func (rt *routeCore) send(ctx context.Context, c *Client, in any, accept string, body io.Reader) (*http.Response, error) {
	v := reflect.ValueOf(in).Elem()
	path, query, err := rt.in.target(rt.path, v)
	if err != nil {
		return nil, fmt.Errorf("asking the node: %w", err)
	}
	media := accept
	switch {
	case body != nil:
		media = rt.bodies[0].Media
	case rt.in.bodyType != nil:
		media = "application/json"
		if body, err = rt.in.encode(v); err != nil {
			return nil, fmt.Errorf("asking the node: %w", err)
		}
	}
	return c.send(ctx, rt.method, path, query, media, body)
}

// fillLists replaces nil lists, so that they are [] in JSON, and nil maps, so that they are {}.
func fillLists(v reflect.Value) {
	if v.Kind() != reflect.Struct {
		return
	}
	for i := range v.NumField() {
		f, t := v.Field(i), v.Type().Field(i)
		if !t.IsExported() || strings.Contains(t.Tag.Get("json"), ",omit") || t.Tag.Get("json") == "-" {
			continue
		}
		switch {
		case t.Anonymous:
			fillLists(f)
		case f.Kind() == reflect.Slice && f.IsNil():
			f.Set(reflect.MakeSlice(f.Type(), 0, 0))
		case f.Kind() == reflect.Map && f.IsNil():
			f.Set(reflect.MakeMap(f.Type()))
		}
	}
}

// Endpoint describes one route for a document.
type Endpoint struct {
	Method, Path, ID      string
	Summary, About, Gives string
	Needs                 Right
	Status                int
	Params                []Param
	Takes                 []Format // of the body
	Optional              bool     // the body is optional
	Answers               []Format
}

func (rt *routeCore) describe() Endpoint {
	e := Endpoint{rt.method, rt.path, rt.id, rt.summary, rt.about, rt.gives, rt.needs, http.StatusOK, rt.in.params, rt.bodies, rt.optional, rt.answers}
	if rt.made {
		e.Status = http.StatusCreated
	}
	if e.Takes == nil && rt.in.bodyType != nil {
		e.Takes = []Format{{Media: "application/json", Type: rt.in.bodyType}}
	}
	return e
}

// Endpoints returns every route.
func Endpoints() []Endpoint {
	var out []Endpoint
	for _, b := range (&handler{}).routes() {
		out = append(out, b.describe())
	}
	return out
}

// countTrue returns how many of several conditions hold.
func countTrue(set ...bool) (n int) {
	for _, s := range set {
		if s {
			n++
		}
	}
	return n
}
