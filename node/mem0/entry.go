package mem0

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// Locket's metadata is text. Other values are stored as JSON, and their keys under
// typesKey, so that they are returned unchanged.
const (
	appKey   = "app_id"
	typesKey = "mem0.json"
)

// metadataOf makes Locket's metadata from a request's.
func metadataOf(given map[string]json.RawMessage, app string) (memory.Metadata, error) {
	out, typed := memory.Metadata{}, []string{}
	for k, v := range given {
		if k == appKey || k == typesKey {
			return nil, bad("metadata: the key %q is Locket's own", k)
		}
		var text string
		if len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &text) == nil {
			out[k] = text
			continue
		}
		out[k] = string(v)
		typed = append(typed, k)
	}
	if len(typed) > 0 {
		b, err := json.Marshal(typed)
		if err != nil {
			return nil, err
		}
		out[typesKey] = string(b)
	}
	if app != "" {
		out[appKey] = app
	}
	if len(out) == 0 {
		return nil, nil
	}
	if err := out.Validate(); err != nil {
		return nil, bad("%v", err)
	}
	return out, nil
}

// originalMetadata restores a request's metadata from Locket's. nil: there was none.
func originalMetadata(m memory.Metadata) map[string]any {
	var typed []string
	_ = json.Unmarshal([]byte(m[typesKey]), &typed) // if it fails, all values are texts
	out := map[string]any{}
	for k, v := range m {
		if k != appKey && k != typesKey {
			out[k] = v
		}
	}
	for _, k := range typed {
		if v, ok := m[k]; ok && json.Valid([]byte(v)) {
			out[k] = json.RawMessage(v)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// entry returns a memory in the form of Mem0.
func entry(m *memory.Memory) map[string]any {
	e := map[string]any{"id": uuid(m.ID), "memory": m.Text, "user_id": orNull(m.Owner.User), "agent_id": orNull(m.Owner.Agent), "app_id": orNull(m.Metadata[appKey]),
		"run_id": orNull(m.Owner.Run), "metadata": originalMetadata(m.Metadata), "categories": m.Categories, "created_at": stamp(m.Learnt), "updated_at": stamp(m.Learnt)}
	if m.Categories == nil {
		e["categories"] = []string{}
	}
	if !m.Expires.IsZero() {
		e["expiration_date"] = m.Expires.Format(time.DateOnly)
	}
	return e
}

// hit returns an entry with its score.
func hit(h *serve.Hit) map[string]any {
	e := entry(h.Memory)
	e["score"] = h.Score
	e["score_breakdown"] = map[string]float64{"semantic": h.Parts["embedding_match"], "bm25": h.Parts["bm25_match"], "entity": h.Parts["entity_match"]}
	return e
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// endOf is moment for the end of a validity: for a date it is the last second of
// that day.
func endOf(name string, raw json.RawMessage) (time.Time, error) {
	t, err := moment(name, raw)
	if day := fmt.Sprintf("%q", t.Format(time.DateOnly)); err == nil && !t.IsZero() && string(raw) == day {
		t = t.Add(24*time.Hour - time.Second)
	}
	return t, err
}

// moment parses a time: seconds since 1970, RFC 3339, or a date.
func moment(name string, raw json.RawMessage) (time.Time, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return time.Time{}, nil
	}
	var seconds int64
	if json.Unmarshal(raw, &seconds) == nil && seconds > 0 && seconds < 1<<35 {
		return time.Unix(seconds, 0), nil
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return time.Time{}, bad("%s: want seconds since 1970, or a date", name)
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, strings.TrimSpace(text)); err == nil && !t.IsZero() { // zero would mean none
			return t, nil
		}
	}
	return time.Time{}, bad("%s: %.40q: want seconds since 1970, or a date", name, text)
}

// field maps the fields in a filter of Mem0 to Locket's names.
var field = map[string]string{"user_id": "user", "agent_id": "agent", "run_id": "run", "session_id": "run", "app_id": "metadata." + appKey,
	"created_at": "learnt", "updated_at": "learnt", "timestamp": "said", "categories": "categories", "keywords": "text", "memory_ids": "id", "id": "id", "memory": "text"}

const maxDepth = 32 // of filters; Locket's own limit is lower

// translate converts a filter of Mem0 into one of Locket.
func translate(place string, v any, depth int) (any, error) {
	if depth > maxDepth {
		return nil, bad("%s: nested deeper than %d", place, maxDepth)
	}
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			var err error
			if out[i], err = translate(fmt.Sprintf("%s[%d]", place, i), e, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		parts := []any{}
		for name, e := range v {
			part, err := member(place+"."+name, name, e, depth)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part)
		}
		if len(parts) == 1 {
			return parts[0], nil
		}
		return map[string]any{"AND": parts}, nil
	}
	return nil, bad("%s: want an object, or a list of them", place)
}

func member(place, name string, v any, depth int) (any, error) {
	switch upper := strings.ToUpper(name); upper {
	case "AND", "OR", "NOT":
		inner, err := translate(place, v, depth+1)
		return map[string]any{upper: inner}, err
	case "METADATA":
		of, ok := v.(map[string]any)
		if !ok || len(of) == 0 {
			return nil, bad("%s: want an object of keys", place)
		}
		parts := []any{}
		for key, e := range of {
			parts = append(parts, map[string]any{"metadata." + key: compared(e)})
		}
		return map[string]any{"AND": parts}, nil
	}
	to, ok := field[name]
	if !ok {
		return nil, bad("%s: not a field that can be filtered by; they are %s and metadata", place, strings.Join(slices.Sorted(maps.Keys(field)), ", "))
	}
	if name == "memory_ids" || name == "id" {
		v = ids(v)
	}
	if name == "keywords" {
		if s, ok := v.(string); ok {
			v = map[string]any{"icontains": s}
		}
	}
	return map[string]any{to: compared(v)}, nil
}

// compared converts a comparison into Locket's: a list means in, and "*" any value.
func compared(v any) any {
	switch v := v.(type) {
	case string:
		if v == "*" {
			return map[string]any{"exists": true}
		}
	case []any:
		return map[string]any{"in": v}
	}
	return v
}

// ids converts UUIDs into Locket's spelling, anywhere in a comparison.
func ids(v any) any {
	switch v := v.(type) {
	case string:
		return idOf(v)
	case []any:
		for i := range v {
			v[i] = ids(v[i])
		}
	case map[string]any:
		for op := range v {
			v[op] = ids(v[op])
		}
	}
	return v
}
