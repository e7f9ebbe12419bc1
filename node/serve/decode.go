package serve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/locket-dev/locket/memory"
)

// Limits for what is read.
const (
	MaxBody = 1 << 20 // bytes of a JSON body
	MaxLine = 4 << 20 // bytes of one line of an import
)

// decodeBody reads exactly one JSON value into v. It refuses unknown fields, null as a value of
// metadata, Go's zero time, which would be mistaken for a missing time, and a time that can't be
// written in UTC. If optional is true, an empty body leaves v unchanged.
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
	if len(body) == 0 {
		if optional {
			return nil
		}
		return kindRequest.problem("", "the body is empty")
	}
	if err := decodeStrict(body, v); err != nil || !mayGiveNoTime(body) && !bytes.Contains(body, []byte("null")) {
		return err
	}
	if w := find(reflect.TypeOf(v), body); w != nil {
		if w.err == errNull {
			return kindRequest.problem(w.path, w.path+": "+errNull.Error())
		}
		return kindInvalid.problem(w.path, w.path+": "+wantTime)
	}
	return nil
}

func requestError(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return err
	}
	return kindRequest.problem("", "the body ended early")
}

// decodeStrict decodes one JSON value. The problem names the field and does not repeat what was
// sent. It is kindRequest for something that is not such JSON, and kindInvalid for a text or a
// number of the right type that isn't allowed.
func decodeStrict(body []byte, v any) error {
	if !utf8.Valid(body) { // encoding/json would replace invalid bytes with U+FFFD
		return kindRequest.problem("", "the body is not UTF-8")
	}
	dec := json.NewDecoder(strings.NewReader(string(body)))
	dec.DisallowUnknownFields()
	err := dec.Decode(v)
	if err == nil {
		if _, err := dec.Token(); err != io.EOF {
			return kindRequest.problem("", "something follows the JSON value")
		}
		if w := givenTwice(body); w != nil {
			return kindRequest.problem(w.path, fmt.Sprintf("%q is given twice", w.path))
		}
		return checkEnums(reflect.ValueOf(v))
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if w := find(reflect.TypeOf(v), body); w != nil && !w.unknown && w.path != "" {
			wrong.Field = w.path // which includes indexes of lists
		}
		if n, ok := strings.CutPrefix(wrong.Value, "number "); ok && typeName(wrong.Type.String()) == "a number" {
			return kindInvalid.problem(wrong.Field, fmt.Sprintf("%s: %.40s: want a whole number that is neither too small nor too large", wrong.Field, n))
		}
		return kindRequest.problem(wrong.Field, fmt.Sprintf("%s: %s where %s is wanted, at byte %d", cmp.Or(wrong.Field, "body"), wrong.Value, typeName(wrong.Type.String()), wrong.Offset))
	}
	if wrong, ok := errors.AsType[*json.SyntaxError](err); ok {
		return kindRequest.problem("", fmt.Sprintf("not JSON at byte %d", wrong.Offset))
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return kindRequest.problem("", "the JSON value is cut off")
	}
	w := find(reflect.TypeOf(v), body) // an unknown field, a time, or an error of our own UnmarshalText methods
	switch {
	case w == nil:
	case w.unknown:
		return kindRequest.problem(w.path, fmt.Sprintf("%q is not a field of this request", w.path))
	case errors.Is(w.err, memory.ErrInvalid):
		return InField(w.path, w.err)
	default:
		k, detail := kindInvalid, w.err.Error()
		if !w.text {
			k = kindRequest
		}
		if w.typ == timeType {
			detail = wantTime
		}
		return k.problem(w.path, strings.TrimPrefix(w.path+": ", ": ")+detail)
	}
	if errors.Is(err, memory.ErrInvalid) {
		return err
	}
	return kindRequest.problem("", err.Error())
}

// wantTime says how a time is written.
const wantTime = "want a time such as 2026-11-20T08:00:00Z"

// checkEnums checks the texts of a body that have the tag enum. An optional text may be empty.
func checkEnums(v reflect.Value) error {
	if v = reflect.Indirect(v); v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		values, ok := tag.Lookup("enum")
		if !ok {
			continue
		}
		name, options, _ := strings.Cut(tag.Get("json"), ",")
		text, list := v.Field(i).String(), strings.Split(values, ",")
		if slices.Contains(list, text) || text == "" && options != "" {
			continue
		}
		return kindInvalid.problem(name, name+": "+wantOf(list))
	}
	return nil
}

// wantOf returns a message that one of a list is wanted.
func wantOf(list []string) string {
	last := len(list) - 1
	return fmt.Sprintf("want %s or %s", strings.Join(list[:last], ", "), list[last])
}

// typeName returns the JSON word for a Go type.
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
