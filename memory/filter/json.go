package filter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// UnmarshalJSON reads the JSON spelling: an object of fields, "AND", "OR" and
// "NOT", or an array, which is the AND of its parts. null and {} are the zero
// filter. Errors wrap [memory.ErrInvalid] and name the place.
func (f *Filter) UnmarshalJSON(b []byte) (err error) {
	*f, err = Read(b, nil)
	return err
}

// Read reads the JSON spelling, as [Filter.UnmarshalJSON] does. zone is for times without one;
// nil: UTC.
func Read(b []byte, zone *time.Location) (f Filter, err error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	v, err := readValue(dec, "filters", 0)
	if err != nil {
		return f, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return f, invalid("filters", "something follows the JSON value")
	}
	if v == nil {
		return f, nil
	}
	n, err := (&reader{zone: zone}).node("filters", v, 0)
	if err != nil {
		return f, err
	}
	return Filter{n}, nil
}

// MarshalJSON returns the JSON spelling; {} for the zero filter.
func (f Filter) MarshalJSON() ([]byte, error) {
	if f.root == nil {
		return []byte("{}"), nil
	}
	return json.Marshal(f.root.json())
}

func (n all) json() any    { return map[string]any{"AND": list(n)} }
func (n anyOf) json() any  { return map[string]any{"OR": list(n)} }
func (n negate) json() any { return map[string]any{"NOT": n.node.json()} }

func list(nodes []node) []any {
	out := make([]any, len(nodes))
	for i, n := range nodes {
		out[i] = n.json()
	}
	return out
}

func (c *condition) json() any {
	var v any = c.spelt(0)
	if c.op == OpIn || c.op == OpNotIn {
		values := make([]any, len(c.words))
		for i := range values {
			values[i] = c.spelt(i)
		}
		v = values
	}
	return map[string]any{c.name: map[string]any{string(c.op): v}}
}

// spelt returns a value for JSON.
func (c *condition) spelt(i int) any {
	switch {
	case c.field.kind == flag || c.op == OpExists:
		return c.words[i] == "true"
	case c.field.kind == number:
		return c.want[i].number
	case c.field.kind == moment:
		return c.want[i].moment.Format(time.RFC3339Nano)
	}
	return c.words[i]
}

// member is one entry of a JSON object, in its order. An object in which a name occurs twice is
// refused; a map would lose one of them.
type member struct {
	name  string
	value any
}

// reader counts what a filter from outside contains.
type reader struct {
	conditions int
	zone       *time.Location // for times without one; nil: UTC
}

// readValue reads a JSON value: nil, string, json.Number, bool, []any or []member.
func readValue(dec *json.Decoder, place string, depth int) (any, error) {
	if depth > 3*MaxDepth {
		return nil, invalid(place, "nested too deep")
	}
	t, err := dec.Token()
	if err != nil {
		return nil, notJSON(dec, place, err)
	}
	switch t {
	case json.Delim('['):
		out := []any{}
		for dec.More() {
			v, err := readValue(dec, fmt.Sprintf("%s[%d]", place, len(out)), depth+1)
			if err != nil {
				return nil, err
			}
			if out = append(out, v); len(out) > MaxValues {
				return nil, invalid(place, "more than %d entries", MaxValues)
			}
		}
		_, err := dec.Token()
		return out, notJSON(dec, place, err)
	case json.Delim('{'):
		out := []member{}
		seen := map[string]bool{}
		for dec.More() {
			k, err := dec.Token()
			if err != nil {
				return nil, notJSON(dec, place, err)
			}
			name := k.(string)
			if seen[name] {
				return nil, invalid(place+"."+name, "given twice")
			}
			seen[name] = true
			v, err := readValue(dec, place+"."+name, depth+1)
			if err != nil {
				return nil, err
			}
			if out = append(out, member{name, v}); len(out) > MaxConditions {
				return nil, invalid(place, "more than %d fields", MaxConditions)
			}
		}
		_, err := dec.Token()
		return out, notJSON(dec, place, err)
	}
	return t, nil
}

func notJSON(dec *json.Decoder, place string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*json.SyntaxError](err); ok {
		return invalid(place, "not JSON after byte %d", dec.InputOffset()) // the decoder's error counts bytes from elsewhere
	}
	return invalid(place, "the JSON value is cut off") // a reader of bytes has no other error
}

func (r *reader) node(place string, v any, depth int) (node, error) {
	if depth > MaxDepth {
		return nil, invalid(place, "nested deeper than %d", MaxDepth)
	}
	switch v := v.(type) {
	case []any:
		return r.nodes(place, v, joinAll, depth)
	case []member:
		var parts []node
		for _, m := range v {
			n, err := r.member(place+"."+m.name, m, depth)
			if err != nil {
				return nil, err
			}
			if n != nil {
				parts = append(parts, n)
			}
		}
		return joined(parts, joinAll), nil
	}
	return nil, invalid(place, "want an object of fields, AND, OR and NOT")
}

func joinAll(l []node) node { return all(l) }
func joinAny(l []node) node { return anyOf(l) }

// joined makes one node of several; it returns nil if there are none.
func joined(parts []node, join func([]node) node) node {
	switch len(parts) {
	case 0:
		return nil
	case 1:
		return parts[0]
	}
	return join(parts)
}

func (r *reader) nodes(place string, list []any, join func([]node) node, depth int) (node, error) {
	if len(list) == 0 {
		return nil, invalid(place, "empty")
	}
	var parts []node
	for i, v := range list {
		at := fmt.Sprintf("%s[%d]", place, i)
		n, err := r.node(at, v, depth+1)
		if err != nil {
			return nil, err
		}
		if n == nil {
			return nil, invalid(at, "empty")
		}
		parts = append(parts, n)
	}
	return joined(parts, join), nil
}

func (r *reader) member(place string, m member, depth int) (node, error) {
	switch strings.ToUpper(m.name) {
	case "AND", "OR":
		list, ok := m.value.([]any)
		if !ok {
			return nil, invalid(place, "want an array")
		}
		if strings.EqualFold(m.name, "OR") {
			return r.nodes(place, list, joinAny, depth)
		}
		return r.nodes(place, list, joinAll, depth)
	case "NOT": // an array excludes items that match all of its parts together, as in Mem0
		n, err := r.node(place, m.value, depth+1)
		if err != nil {
			return nil, err
		}
		if n == nil {
			return nil, invalid(place, "empty")
		}
		return negate{n}, nil
	}
	ops, ok := m.value.([]member)
	if !ok {
		ops = []member{{string(OpEqual), m.value}}
	}
	if len(ops) == 0 {
		return nil, invalid(place, "no comparison")
	}
	var parts []node
	for _, op := range ops {
		if r.conditions++; r.conditions > MaxConditions {
			return nil, invalid(place, "more than %d conditions", MaxConditions)
		}
		words, err := scalars(place, op.value)
		if err != nil {
			return nil, err
		}
		c, err := newCondition(place, m.name, Op(op.name), words, r.zone)
		if err != nil {
			return nil, err
		}
		parts = append(parts, c)
	}
	return joined(parts, joinAll), nil
}

// scalars returns the values of a comparison as words.
func scalars(place string, v any) ([]string, error) {
	switch v := v.(type) {
	case string:
		return []string{v}, nil
	case json.Number:
		return []string{v.String()}, nil
	case bool:
		return []string{strconv.FormatBool(v)}, nil
	case []any:
		var out []string
		for i, e := range v {
			if _, nested := e.([]any); nested {
				return nil, invalid(fmt.Sprintf("%s[%d]", place, i), "want a text, a number, or true or false")
			}
			w, err := scalars(fmt.Sprintf("%s[%d]", place, i), e)
			if err != nil {
				return nil, err
			}
			out = append(out, w...)
		}
		return out, nil
	}
	return nil, invalid(place, "want a text, a number, or true or false")
}
