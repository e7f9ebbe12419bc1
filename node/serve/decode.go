package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Limits on what is read.
const (
	MaxBody = 1 << 20 // bytes of a JSON body
	MaxLine = 4 << 20 // bytes of one line of an import
)

// decodeBody reads exactly one JSON value into v, refusing fields that v does
// not have. An empty body leaves v as it is where optional.
func decodeBody(r *http.Request, v any, optional bool) error {
	if r.ContentLength == 0 && optional {
		return nil
	}
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return kindMedia.problem("", "want application/json")
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return requestError(err)
	}
	if len(body) == 0 && optional {
		return nil
	}
	return decodeStrict(body, v)
}

func requestError(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return err
	}
	return kindRequest.problem("", "the body can't be read to its end")
}

// decodeStrict decodes one JSON value. The problem names the field, and shows
// nothing of what was sent.
func decodeStrict(body []byte, v any) error {
	dec := json.NewDecoder(strings.NewReader(string(body)))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		if _, err := dec.Token(); err != io.EOF {
			return kindRequest.problem("", "something follows the JSON value")
		}
		return nil
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return kindRequest.problem(wrong.Field, fmt.Sprintf("%s: %s where %s is wanted, at byte %d", cmpOr(wrong.Field, "body"), wrong.Value, typeName(wrong.Type.String()), wrong.Offset))
	}
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		return kindRequest.problem("", fmt.Sprintf("not JSON at byte %d", wrong.Offset))
	}
	// encoding/json has no type for this error.
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		if plain, err := strconv.Unquote(name); err == nil {
			name = plain
		}
		return kindRequest.problem(name, fmt.Sprintf("%q is not a field of this request", name))
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return kindRequest.problem("", "the JSON value is cut off")
	}
	if errors.Is(err, memory.ErrInvalid) {
		return err
	}
	return kindRequest.problem("", err.Error()) // of our own UnmarshalText methods, or a time
}

func cmpOr(s, other string) string {
	if s != "" {
		return s
	}
	return other
}

// typeName says a Go type in JSON's words.
func typeName(t string) string {
	switch {
	case strings.HasPrefix(t, "[]"):
		return "an array"
	case strings.HasPrefix(t, "int"), strings.HasPrefix(t, "uint"), strings.HasPrefix(t, "float"):
		return "a number"
	case t == "bool":
		return "true or false"
	case strings.HasPrefix(t, "map["), strings.HasSuffix(t, "Fields"), strings.HasSuffix(t, "Request"):
		return "an object"
	}
	return "a string"
}

// checkParams refuses a query string that is malformed, has a parameter that
// is not known, or one twice.
func checkParams(r *http.Request, known []string) error {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return kindRequest.problem("", "the query string is malformed")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(known, name) {
			return kindRequest.problem(name, fmt.Sprintf("%q is not a parameter of this path", name))
		}
		if n := len(values[name]); n > 1 {
			return kindRequest.problem(name, fmt.Sprintf("%q is given %d times", name, n))
		}
	}
	return nil
}

// params reads query parameters; err is the first that is wrong.
type params struct {
	values url.Values
	err    error
}

func readParams(r *http.Request) *params { return &params{values: r.URL.Query()} }

func (p *params) fail(name, detail string) {
	if p.err == nil {
		p.err = kindRequest.problem(name, detail)
	}
}

func (p *params) text(name string) string { return p.values.Get(name) }

func (p *params) time(name string) time.Time {
	s := p.text(name)
	if s == "" {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		p.fail(name, name+": want a time such as 2026-11-20T08:00:00Z")
	}
	return t
}

func (p *params) bool(name string) bool {
	switch p.text(name) {
	case "", "false":
		return false
	case "true":
		return true
	}
	p.fail(name, name+": want true or false")
	return false
}

// number gives fallback where the parameter is not there, and fails outside
// low to high.
func (p *params) number(name string, fallback, low, high uint64) uint64 {
	s := p.text(name)
	if s == "" {
		return fallback
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n < low || n > high {
		p.fail(name, fmt.Sprintf("%s: want a number from %d to %d", name, low, high))
	}
	return n
}

func (p *params) types(name string) memory.Type {
	t := memory.Type(p.text(name))
	if t != "" && !slices.Contains(memory.Types[:], t) {
		p.fail(name, wantType(name, t))
	}
	return t
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
