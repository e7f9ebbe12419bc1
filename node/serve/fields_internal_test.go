package serve

import (
	"encoding"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/locket-dev/locket/memory"
)

// badField is one wrong value of a field of a body, with everything around it.
type badField struct {
	body any
	kind kind
}

// badFields returns wrong values for each field of a type, including those in lists and
// nested structs.
func badFields(t reflect.Type, within func(any) any, deep int) (out []badField) {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	add := func(k kind, values ...any) {
		for _, v := range values {
			out = append(out, badField{within(v), k})
		}
	}
	p := reflect.PointerTo(t)
	switch {
	case t == timeType:
		add(kindInvalid, "yesterday", "2026-13-01T00:00:00Z", "0001-01-01T00:00:00Z", "0000-12-31T23:00:00-01:00",
			"0000-01-01T00:00:00+10:00", "9999-12-31T23:59:59-10:00")
		add(kindRequest, 5, true)
	case p.Implements(jsonType):
		add(kindInvalid, "x")
	case p.Implements(textType):
		add(kindInvalid, "\x00 none")
		add(kindRequest, 5, []int{})
	case t.Kind() == reflect.Bool:
		add(kindRequest, "true", 1)
	case t.Kind() == reflect.String:
		add(kindRequest, 1, true)
	case reflect.Zero(t).CanInt() || reflect.Zero(t).CanUint():
		add(kindRequest, "1", true)
		add(kindInvalid, 1.5, json.Number("1e30"))
	case t.Kind() == reflect.Float64:
		add(kindRequest, "1")
		add(kindInvalid, json.Number("1e999"))
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		add(kindRequest, "x", 1)
		out = append(out, badFields(t.Elem(), func(v any) any { return within([]any{v}) }, deep)...)
	case t.Kind() == reflect.Struct && deep < 5:
		add(kindRequest, "x")
		for name, f := range fieldsOf(t) {
			out = append(out, badFields(f, func(v any) any { return within(map[string]any{name: v}) }, deep+1)...)
		}
		out = append(out, badField{within(map[string]any{"bogus": 1}), kindRequest})
	}
	return out
}

// goodPart returns a valid value for a part of a path.
func goodPart(p *Param) string {
	if p.Enum != nil {
		return p.Enum[0]
	}
	for _, n := range []int{26, 16, 64} { // an id, a member, a hash
		text := strings.Repeat("0", n)
		if to, ok := reflect.New(p.Type).Interface().(encoding.TextUnmarshaler); !ok || to.UnmarshalText([]byte(text)) == nil {
			return text
		}
	}
	return ""
}

// A wrong parameter or field gets the same status in all routes: 400 if it can't be parsed as
// its type, 422 if it can but is not allowed.
func TestStatusOfInvalidInput(t *testing.T) {
	n, h := 0, &handler{log: slog.New(slog.DiscardHandler)}
	for _, b := range (&handler{}).routes() {
		check := func(query, body string, k kind) {
			n++
			r := httptest.NewRequest(b.method, "/?"+query, strings.NewReader(body))
			r.Header.Set("Content-Type", "application/json")
			for _, p := range b.in.params {
				if p.In == "path" {
					r.SetPathValue(p.Name, goodPart(&p))
				}
			}
			err := b.in.read(r, reflect.New(b.zero).Elem(), b.bodies == nil, b.optional)
			got := h.problemOf(t.Context(), b.path, err)
			if err == nil || got.Type != typePrefix+k.name {
				t.Errorf("%s %s ?%s %s: %d %v, want %s", b.method, b.path, query, body, got.Status, err, k.name)
			}
		}
		if slices.ContainsFunc(b.in.params, func(p Param) bool { return p.In == "query" }) || b.in.bodyType == nil {
			check("bogus=1", "", kindRequest)
		}
		for _, p := range b.in.params {
			if p.In != "query" {
				if _, ok := reflect.New(p.Type).Interface().(encoding.TextUnmarshaler); ok {
					err := p.set(reflect.New(p.Type).Elem(), "-x-", true)
					if got := h.problemOf(t.Context(), b.path, err); got.Type != typePrefix+kindInvalid.name {
						t.Errorf("%s: %d %v", b.path, got.Status, err)
					}
				}
				continue
			}
			check(p.Name+"=1&"+p.Name+"=1", "", kindRequest)
			v := reflect.Zero(p.Type)
			switch {
			case p.Type == timeType, p.Type == reflect.TypeFor[memory.Type](), reflect.PointerTo(p.Type).Implements(textType), reflect.PointerTo(p.Type).Implements(jsonType),
				p.Enum != nil, v.Kind() == reflect.Bool, v.CanInt(), v.CanUint():
				check(p.Name+"=-x-", "", kindInvalid)
			}
			if p.Type == timeType { // it would be the same as no time
				check(p.Name+"=0001-01-01T00:00:00Z", "", kindInvalid)
			}
		}
		if b.in.bodyType == nil || b.bodies != nil {
			continue
		}
		for _, bad := range badFields(b.in.bodyType, func(v any) any { return v }, 0) {
			body, err := json.Marshal(bad.body)
			if err != nil {
				t.Fatal(err)
			}
			check("", string(body), bad.kind)
		}
		check("", "{", kindRequest)
	}
	if n < 1000 {
		t.Errorf("%d faults were tried", n)
	}
}
