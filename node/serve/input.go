package serve

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// Param is a parameter of a path or of a query string.
type Param struct {
	Name, In string // In: "path" or "query"
	Doc      string
	Type     reflect.Type
	Enum     []string // allowed values; empty: any
	Default  string
	Min, Max string // limits of a number

	field int // index of the field in the input
}

// input converts a request into a value of a struct, and back.
//
//   - A field with the tag `path:"NAME"` is the part {NAME} of the path.
//   - A field with the tag `query:"NAME"` is a parameter. Its other tags: doc;
//     enum, a list with commas; min and max; default, which a number is given,
//     and which otherwise only tells what the zero value stands for.
//   - The field Body is the body, in JSON. A struct of none of these, and not
//     without fields, is the body as a whole.
type input struct {
	params   []Param
	part     []int        // index of the body in the struct; empty: the whole struct
	bodyType reflect.Type // of the body; nil: none
}

func inputOf(t reflect.Type) *input {
	in := &input{}
	if t.Kind() != reflect.Struct || t.NumField() == 0 {
		return in
	}
	for i := range t.NumField() {
		f := t.Field(i)
		p := Param{Doc: f.Tag.Get("doc"), Type: f.Type, Default: f.Tag.Get("default"), Min: f.Tag.Get("min"), Max: f.Tag.Get("max"), field: i}
		if e := f.Tag.Get("enum"); e != "" {
			p.Enum = strings.Split(e, ",")
		}
		if p.Name = f.Tag.Get("path"); p.Name != "" {
			p.In = "path"
			in.params = append(in.params, p)
		} else if p.Name = f.Tag.Get("query"); p.Name != "" {
			p.In = "query"
			in.params = append(in.params, p)
		} else if f.Name == "Body" && len(in.params) > 0 {
			in.part, in.bodyType = []int{i}, f.Type
		}
	}
	if len(in.params) == 0 {
		in.bodyType = t
	}
	return in
}

// read sets v from a request.
func (in *input) read(r *http.Request, v reflect.Value, inJSON, optional bool) error {
	values, err := in.query(r)
	if err != nil {
		return err
	}
	for i := range in.params {
		p := &in.params[i]
		text, given := r.PathValue(p.Name), true
		if p.In == "query" {
			text, given = values.Get(p.Name), values.Has(p.Name)
		}
		if err := p.set(v.Field(p.field), text, given); err != nil {
			return err
		}
	}
	if in.bodyType == nil || !inJSON {
		return nil
	}
	return decodeBody(r, v.FieldByIndex(in.part).Addr().Interface(), optional)
}

// query reads the query string. It refuses a malformed one, and one that has an
// unknown parameter, or the same parameter twice.
func (in *input) query(r *http.Request) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, kindRequest.problem("", "the query string is malformed")
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.ContainsFunc(in.params, func(p Param) bool { return p.In == "query" && p.Name == name }) {
			return nil, kindRequest.problem(name, fmt.Sprintf("%q is not a parameter of this path", name))
		}
		if n := len(values[name]); n > 1 {
			return nil, kindRequest.problem(name, fmt.Sprintf("%q is given %d times", name, n))
		}
	}
	return values, nil
}

// set sets a field to a parameter. A parameter that is not given becomes the
// zero value.
func (p *Param) set(v reflect.Value, text string, given bool) error {
	wrong := func(format string, args ...any) error {
		return kindInvalid.problem(p.Name, p.Name+": "+fmt.Sprintf(format, args...))
	}
	if v.Kind() == reflect.Pointer && given { // a text, which may be empty
		v.Set(reflect.ValueOf(&text))
		return nil
	}
	if text == "" && v.CanUint() || text == "" && v.CanInt() {
		text = p.Default
	}
	if text == "" {
		return nil
	}
	switch to := v.Addr().Interface().(type) {
	case *time.Time:
		t, err := time.Parse(time.RFC3339Nano, text)
		if err != nil || t.IsZero() || !memory.HasYear(t) { // a zero time would mean the same as none
			return wrong(wantTime)
		}
		*to = t
		return nil
	case *memory.Type:
		if *to = memory.Type(text); !slices.Contains(memory.Types[:], *to) {
			return kindInvalid.problem(p.Name, wantType(p.Name, *to))
		}
		return nil
	case encoding.TextUnmarshaler:
		return inParam(p.Name, to.UnmarshalText([]byte(text)))
	case json.Unmarshaler:
		return inParam(p.Name, to.UnmarshalJSON([]byte(text)))
	}
	switch {
	case v.Kind() == reflect.Bool:
		if text != "true" && text != "false" {
			return wrong("want true or false")
		}
		v.SetBool(text == "true")
	case v.CanInt() || v.CanUint():
		low, high := p.bounds()
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil || n < low || n > high {
			return wrong("want a number from %d to %d", low, high)
		}
		if v.CanInt() {
			v.SetInt(int64(n))
		} else {
			v.SetUint(n)
		}
	default:
		if p.In == "query" && p.Enum != nil && !slices.Contains(p.Enum, text) {
			return wrong("%s", wantOf(p.Enum))
		}
		v.SetString(text)
	}
	return nil
}

// inParam adds to an error, if there is one, which parameter it is about.
func inParam(name string, err error) error {
	if err == nil {
		return nil
	}
	if !errors.Is(err, memory.ErrInvalid) {
		return kindInvalid.problem(name, name+": "+err.Error())
	}
	return InField(name, err)
}

func (p *Param) bounds() (low, high uint64) {
	low, _ = strconv.ParseUint(p.Min, 10, 64)
	high, err := strconv.ParseUint(p.Max, 10, 64)
	if err != nil {
		high = math.MaxInt64
	}
	return low, high
}

// target returns the path, escaped, and the parameters that are not zero.
func (in *input) target(path string, v reflect.Value) (string, url.Values, error) {
	query := url.Values{}
	for i := range in.params {
		p := &in.params[i]
		text, err := p.text(v.Field(p.field))
		if err != nil {
			return "", nil, err
		}
		if p.In == "path" {
			path = strings.Replace(path, "{"+p.Name+"}", url.PathEscape(text), 1)
		} else if text != "" {
			query.Set(p.Name, text)
		}
	}
	return path, query, nil
}

// text returns a parameter in the form that set reads; the zero value becomes
// the empty text.
func (p *Param) text(v reflect.Value) (string, error) {
	if v.IsZero() {
		return "", nil
	}
	if v.Kind() == reflect.Pointer {
		return v.Elem().String(), nil
	}
	switch from := v.Interface().(type) {
	case time.Time:
		return from.Format(time.RFC3339Nano), nil
	case encoding.TextMarshaler:
		b, err := from.MarshalText()
		return string(b), err
	case json.Marshaler:
		b, err := from.MarshalJSON()
		return string(b), err
	}
	return fmt.Sprint(v.Interface()), nil
}

func (in *input) encode(v reflect.Value) (io.Reader, error) {
	b, err := json.Marshal(v.FieldByIndex(in.part).Interface())
	return bytes.NewReader(b), err
}
