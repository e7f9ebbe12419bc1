package wire

import (
	"encoding/base64"
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

var mapType = reflect.TypeFor[map[string]any]()

// fields reads a parsed payload, field by field; the first error is kept.
type fields struct {
	m    map[string]any
	json bool
	read int
	err  error
}

// unknown returns how many fields nobody has read.
func (r *fields) unknown() int { return len(r.m) - r.read }

func (r *fields) fail(field string, p Problem, format string, args ...any) {
	if r.err == nil {
		r.err = errorf(field, p, format, args...)
	}
}

func (r *fields) get(name string, need bool) (any, bool) {
	v, ok := r.m[name]
	if ok {
		r.read++
	} else if need {
		r.fail(name, Missing, "")
	}
	return v, ok
}

const (
	need     = true
	optional = false
)

func (r *fields) uint(name string, required bool, lo, hi uint64) uint64 {
	v, ok := r.get(name, required)
	if !ok {
		return 0
	}
	n, ok := r.wholeNumber(v)
	switch {
	case !ok:
		r.fail(name, Wrong, "want a whole number")
	case n < lo || n > hi:
		r.fail(name, Limits, "want %d to %d", lo, hi)
	}
	return n
}

// wholeNumber reads a whole number. A negative one becomes a number that is out of any
// range.
func (r *fields) wholeNumber(v any) (uint64, bool) {
	switch n := v.(type) {
	case uint64:
		return n, true
	case json.Number:
		u, err := strconv.ParseUint(string(n), 10, 64)
		return u, err == nil
	}
	return 0, false
}

func (r *fields) float(name string, required bool, lo, hi float64) float64 {
	v, ok := r.get(name, required)
	if !ok {
		return 0
	}
	return r.number(name, v, lo, hi)
}

func (r *fields) number(name string, v any, lo, hi float64) float64 {
	var f float64
	switch n := v.(type) {
	case uint64:
		f = float64(n)
	case int64:
		f = float64(n)
	case float64:
		f = n
	case json.Number:
		var err error
		if f, err = n.Float64(); err != nil {
			r.fail(name, Limits, "want a finite number")
			return 0
		}
	default:
		r.fail(name, Wrong, "want a number")
		return 0
	}
	if math.IsNaN(f) || f < lo || f > hi {
		r.fail(name, Limits, "want %g to %g", lo, hi)
		return 0
	}
	return f
}

func (r *fields) floats(name string) []float64 {
	v, ok := r.get(name, need)
	if !ok {
		return nil
	}
	a, ok := v.([]any)
	if !ok || len(a) == 0 {
		r.fail(name, Wrong, "want an array of at least one number")
		return nil
	}
	if len(a) > MaxValues {
		r.fail(name, TooLarge, "%d numbers, at most %d", len(a), MaxValues)
		return nil
	}
	out := make([]float64, len(a))
	for i, e := range a {
		out[i] = r.number(name, e, -math.MaxFloat64, math.MaxFloat64)
	}
	return out
}

func (r *fields) text(name string, required bool, limit int) string {
	v, ok := r.get(name, required)
	if !ok {
		return ""
	}
	s := r.string(name, v, limit)
	if required && s == "" {
		r.fail(name, Limits, "empty")
	}
	return s
}

func (r *fields) string(name string, v any, limit int) string {
	s, ok := v.(string)
	switch {
	case !ok:
		r.fail(name, Wrong, "want text")
	case len(s) > limit:
		r.fail(name, TooLarge, "%d bytes, at most %d", len(s), limit)
	case !utf8.ValidString(s):
		r.fail(name, Text, "")
	default:
		return s
	}
	return ""
}

// word reads a required text that has to be in a list. The empty text never is.
func (r *fields) word(name string, words ...string) string {
	v, ok := r.get(name, need)
	if !ok {
		return ""
	}
	s := r.string(name, v, MaxReason)
	if r.err == nil && !slices.Contains(words, s) {
		r.fail(name, Limits, "want one of %q", words)
	}
	return s
}

func (r *fields) texts(name string, most, limit int) []string {
	v, ok := r.get(name, optional)
	if !ok {
		return nil
	}
	a, ok := v.([]any)
	if !ok {
		r.fail(name, Wrong, "want an array of text")
		return nil
	}
	if len(a) > most {
		r.fail(name, TooLarge, "%d items, at most %d", len(a), most)
		return nil
	}
	var out []string
	for _, e := range a {
		out = append(out, r.string(name, e, limit))
	}
	return out
}

func (r *fields) bool(name string) (value, set bool) {
	v, ok := r.get(name, optional)
	if !ok {
		return false, false
	}
	b, ok := v.(bool)
	if !ok {
		r.fail(name, Wrong, "want true or false")
	}
	return b, true
}

func (r *fields) bytes(name string, limit int) []byte {
	v, ok := r.get(name, need)
	if !ok {
		return nil
	}
	b, ok := v.([]byte)
	if s, isText := v.(string); isText && r.json {
		d, err := base64.StdEncoding.Strict().DecodeString(s)
		if err != nil {
			r.fail(name, Encoding, "not base64 with padding")
			return nil
		}
		b, ok = d, true
	}
	switch {
	case !ok && r.json:
		r.fail(name, Wrong, "want text in base64")
	case !ok:
		r.fail(name, Wrong, "want a byte string")
	case len(b) == 0:
		r.fail(name, Limits, "empty")
	case len(b) > limit:
		r.fail(name, TooLarge, "%d bytes, at most %d", len(b), limit)
	}
	return b
}

// maxMilli limits times in ms to what a float64 can represent exactly. [Clocks]
// decides whether a time is believable.
const maxMilli = 1<<53 - 1

// wall reads ms since 1970 or, in JSON, RFC 3339. 0 means no time.
func (r *fields) wall(name string) time.Time {
	v, ok := r.m[name]
	if s, isText := v.(string); ok && isText && r.json {
		r.read++
		t, err := time.Parse(time.RFC3339, s)
		if err != nil || t.UnixMilli() < 0 {
			r.fail(name, Limits, "want ms since 1970 or RFC 3339")
			return time.Time{}
		}
		return milli(uint64(t.UnixMilli()))
	}
	return milli(r.uint(name, optional, 0, maxMilli))
}

func milli(ms uint64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(ms)).UTC()
}

// zone reads an IANA name. It is not looked up, because the device may know newer
// zones than the node.
func (r *fields) zone() string {
	z := r.text("zone", optional, 64)
	for _, c := range []byte(z) {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '+' || c == '-' || c == '/') {
			r.fail("zone", Limits, "want an IANA name")
		}
	}
	return z
}

// put adds a field unless it is its type's zero value.
func put[T comparable](m map[string]any, name string, v T) {
	var zero T
	if v != zero {
		m[name] = v
	}
}
