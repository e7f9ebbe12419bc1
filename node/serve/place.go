package serve

import (
	"bytes"
	"cmp"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// wrong is a part of a body that can't be decoded.
type wrong struct {
	path    string // "operations[5].add.at"; empty: the whole body
	typ     reflect.Type
	unknown bool  // the type has no such field
	text    bool  // the part is a JSON string
	err     error // error for this part alone
}

var (
	timeType = reflect.TypeFor[time.Time]()
	jsonType = reflect.TypeFor[json.Unmarshaler]()
	textType = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// errNoTime: a time was given that means none, or that has no year in UTC.
var errNoTime = errors.New("no time")

// errNull: a value of metadata is null, which would be stored as an empty text.
var errNull = errors.New("null where a string is wanted")

// mayGiveNoTime reports whether a body contains a text that may be read as such a time.
func mayGiveNoTime(body []byte) bool {
	return slices.ContainsFunc([]string{`"0000-`, `"0001-01-01T`, `"9999-12-31T`}, func(text string) bool { return bytes.Contains(body, []byte(text)) })
}

// find looks for the first part of a body that can't be decoded into a value of a type, that has no
// field there, or that is an invalid time. encoding/json reports what is wrong, but not always
// where.
func find(t reflect.Type, body []byte) *wrong {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if string(bytes.TrimSpace(body)) == "null" {
		return nil
	}
	if p := reflect.PointerTo(t); !p.Implements(jsonType) && !p.Implements(textType) {
		switch t.Kind() {
		case reflect.Struct:
			return findIn(t, body)
		case reflect.Slice, reflect.Array:
			var list []json.RawMessage
			if json.Unmarshal(body, &list) != nil {
				break
			}
			for i, part := range list {
				if w := find(t.Elem(), part); w != nil {
					return w.within(fmt.Sprintf("[%d]", i))
				}
			}
			return nil
		case reflect.Map:
			var parts map[string]json.RawMessage
			if json.Unmarshal(body, &parts) != nil {
				break
			}
			for _, name := range slices.Sorted(maps.Keys(parts)) {
				if string(parts[name]) == "null" && t.Elem().Kind() == reflect.String {
					return &wrong{path: name, err: errNull}
				}
				if w := find(t.Elem(), parts[name]); w != nil {
					return w.within(name)
				}
			}
			return nil
		}
	}
	v := reflect.New(t).Interface()
	err := json.Unmarshal(body, v)
	if at, ok := v.(*time.Time); ok && err == nil && (at.IsZero() || !memory.HasYear(*at)) {
		err = errNoTime
	}
	if err != nil {
		return &wrong{typ: t, text: strings.HasPrefix(string(bytes.TrimSpace(body)), `"`), err: err}
	}
	return nil
}

// findIn looks into the fields of a struct.
func findIn(t reflect.Type, body []byte) *wrong {
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(body, &parts); err != nil {
		return &wrong{typ: t, err: err}
	}
	fields := fieldsOf(t)
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		of, ok := fields[strings.ToLower(name)]
		if !ok {
			return &wrong{path: name, unknown: true}
		}
		if w := find(of, parts[name]); w != nil {
			return w.within(name)
		}
	}
	return nil
}

// givenTwice looks for a field that is twice in an object. encoding/json keeps the last one. The
// body was decoded before, which limits its depth.
func givenTwice(body []byte) *wrong { return twiceIn(json.NewDecoder(bytes.NewReader(body))) }

func twiceIn(dec *json.Decoder) *wrong {
	switch t, _ := dec.Token(); t {
	case json.Delim('{'):
		for seen := map[string]bool{}; dec.More(); {
			t, _ := dec.Token()
			name, _ := t.(string)
			if seen[name] {
				return &wrong{path: name}
			}
			seen[name] = true
			if w := twiceIn(dec); w != nil {
				return w.within(name)
			}
		}
		_, _ = dec.Token()
	case json.Delim('['):
		for i := 0; dec.More(); i++ {
			if w := twiceIn(dec); w != nil {
				return w.within(fmt.Sprintf("[%d]", i))
			}
		}
		_, _ = dec.Token()
	}
	return nil
}

// fieldsOf returns the types of a struct's fields, by their JSON names in lower case.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case name == "" && f.Anonymous && f.Type.Kind() == reflect.Struct:
			maps.Copy(out, fieldsOf(f.Type))
		default:
			out[strings.ToLower(cmp.Or(name, f.Name))] = f.Type
		}
	}
	return out
}

// place sets the field in the problem of a service's error. Such an error begins with its sentinel
// and the field, as memory.ErrInvalid requires: "invalid: slot.value: empty".
func (in *input) place(err error, p *Problem) *Problem {
	if p.Field != "" {
		return p
	}
	for _, sentinel := range []error{memory.ErrInvalid, ErrForbidden} {
		_, text, ok := strings.Cut(p.Detail, sentinel.Error()+": ")
		path, _, named := strings.Cut(text, ": ")
		if !ok || !named || !errors.Is(err, sentinel) || strings.Contains(path, " ") {
			continue
		}
		head := path
		if i := strings.IndexAny(path, ".["); i >= 0 {
			head = path[:i]
		}
		if in.has(head) {
			at := *p
			at.Field = path
			return &at
		}
	}
	return p
}

// has reports whether there is a parameter, or a field of the body, of that name.
func (in *input) has(name string) bool {
	if slices.ContainsFunc(in.params, func(p Param) bool { return p.Name == name }) {
		return true
	}
	t := in.bodyType
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t != nil && t.Kind() == reflect.Struct && fieldsOf(t)[name] != nil
}

// within prefixes the path of the part with a name.
func (w *wrong) within(name string) *wrong {
	if w.path == "" || strings.HasPrefix(w.path, "[") {
		w.path = name + w.path
	} else {
		w.path = name + "." + w.path
	}
	return w
}
