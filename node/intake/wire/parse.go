package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/fxamacker/cbor/v2"
)

// parse reads a payload into its fields. Values are uint64, int64, float64,
// json.Number, string, []byte, bool, nil, []any, map[string]any.
func parse(payload []byte) (map[string]any, Format, error) {
	if len(payload) > MaxPayload {
		return nil, 0, errorf("", TooLarge, "%d bytes, at most %d", len(payload), MaxPayload)
	}
	f, err := Detect(payload)
	if err != nil {
		return nil, 0, err
	}
	if f == JSON {
		m, err := parseJSON(payload)
		return m, f, err
	}
	var m map[string]any
	if err := cborDec.Unmarshal(payload, &m); err != nil {
		return nil, f, cborProblem(err)
	}
	return m, f, nil
}

var cborDec = must(cbor.DecOptions{
	DupMapKey:        cbor.DupMapKeyEnforcedAPF,
	MaxNestedLevels:  maxDepth,
	MaxArrayElements: maxItems,
	MaxMapPairs:      maxPairs,
	TagsMd:           cbor.TagsForbidden,
	UTF8:             cbor.UTF8RejectInvalid,
	DefaultMapType:   mapType,
}.DecMode())

var cborEnc = must(cbor.CoreDetEncOptions().EncMode())

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // the options above are constants
	}
	return v
}

// cborProblem classifies the library's errors without passing on their text,
// which can quote a key of the payload.
func cborProblem(err error) error {
	var depth *cbor.MaxNestedLevelError
	var dup *cbor.DupMapKeyError
	var semantic *cbor.SemanticError // text that is not UTF-8, and nothing else
	var items *cbor.MaxArrayElementsError
	var pairs *cbor.MaxMapPairsError
	switch {
	case errors.As(err, &depth):
		return errorf("", Encoding, "more than %d levels deep", maxDepth)
	case errors.As(err, &dup):
		return errorf("", Encoding, "a field occurs twice")
	case errors.As(err, &semantic):
		return errorf("", Text, "text is not UTF-8")
	case errors.As(err, &items), errors.As(err, &pairs):
		return errorf("", TooLarge, "more than %d fields or %d items", maxPairs, maxItems)
	}
	return errorf("", Encoding, "not one CBOR map with text keys and no tags")
}

func parseJSON(payload []byte) (map[string]any, error) {
	if !utf8.Valid(payload) {
		return nil, errorf("", Text, "not UTF-8")
	}
	p := jsonParser{json.NewDecoder(bytes.NewReader(payload))}
	p.UseNumber()
	v, err := p.value(0)
	if err == nil {
		if _, more := p.Token(); more != io.EOF {
			err = errorf("", Encoding, "something follows the JSON object")
		}
	}
	var ours *Error
	if err != nil && !errors.As(err, &ours) {
		err = errorf("", Encoding, "not one JSON object")
	}
	m, _ := v.(map[string]any)
	return m, err
}

// jsonParser reads tokens, because encoding/json accepts a field twice, and any
// depth up to 10,000.
type jsonParser struct{ *json.Decoder }

func (p jsonParser) value(depth int) (any, error) {
	t, err := p.Token()
	if err != nil {
		return nil, err
	}
	d, isDelim := t.(json.Delim)
	if !isDelim {
		return t, nil
	}
	if depth >= maxDepth {
		return nil, errorf("", Encoding, "more than %d levels deep", maxDepth)
	}
	if d == '{' {
		return p.object(depth)
	}
	return p.array(depth)
}

func (p jsonParser) object(depth int) (any, error) {
	m := map[string]any{}
	for p.More() {
		t, err := p.Token()
		if err != nil {
			return nil, err
		}
		key, _ := t.(string)
		if _, twice := m[key]; twice {
			return nil, errorf("", Encoding, "a field occurs twice")
		}
		if len(m) == maxPairs {
			return nil, errorf("", TooLarge, "more than %d fields", maxPairs)
		}
		if m[key], err = p.value(depth + 1); err != nil {
			return nil, err
		}
	}
	_, err := p.Token()
	return m, err
}

func (p jsonParser) array(depth int) (any, error) {
	a := []any{}
	for p.More() {
		if len(a) == maxItems {
			return nil, errorf("", TooLarge, "more than %d items", maxItems)
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return nil, err
		}
		a = append(a, v)
	}
	_, err := p.Token()
	return a, err
}

// emit writes fields in a format; keys are sorted in both.
func emit(m map[string]any, f Format) ([]byte, error) {
	if f == CBOR {
		return cborEnc.Marshal(m)
	}
	for k, v := range m {
		if b, ok := v.([]byte); ok {
			m[k] = base64.StdEncoding.EncodeToString(b)
		}
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(m)
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), err
}
