package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/locket-dev/locket/memory"
)

// listed returns the items of a JSON value: a list, a list under one of the names, or a
// single object, which counts as a list with that object.
func listed(name string, b []byte, names ...string) ([]json.RawMessage, error) {
	var list []json.RawMessage
	if strings.HasPrefix(strings.TrimSpace(string(b)), "[") {
		return list, decode(name, b, &list)
	}
	var whole map[string]json.RawMessage
	if err := decode(name, b, &whole); err != nil {
		return nil, err
	}
	for _, n := range names {
		if raw, ok := whole[n]; ok {
			return list, decode(name, raw, &list)
		}
	}
	return []json.RawMessage{b}, nil
}

// readScreenpipe reads the answer to GET /search of screenpipe: what was heard as lines,
// and what was on the screen as private resources, each text of a window once.
func readScreenpipe(r *Result, name string, b []byte) error {
	list, err := listed(name, b, "data")
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for i, raw := range list {
		if r.ended() {
			break
		}
		where := fmt.Sprintf("%s: item %d", name, i+1)
		var m struct {
			Type    string `json:"type"`
			Content struct {
				Frame   json.Number `json:"frame_id"`
				Chunk   json.Number `json:"chunk_id"`
				Text    string      `json:"text"`
				Said    string      `json:"transcription"`
				At      any         `json:"timestamp"`
				App     string      `json:"app_name"`
				Window  string      `json:"window_name"`
				URL     string      `json:"browser_url"`
				Device  string      `json:"device_name"`
				Start   float64     `json:"start_time"`
				Speaker *struct {
					Name string `json:"name"`
				} `json:"speaker"`
			} `json:"content"`
		}
		if err := decode(where, raw, &m); err != nil {
			r.skip(where, "%v", err)
			continue
		}
		c := &m.Content
		switch m.Type {
		case "Audio":
			speaker := "" // without a name: the wearer's own machine heard it
			if c.Speaker != nil {
				speaker = c.Speaker.Name
			}
			r.addLine(Screenpipe, where, fmt.Sprintf("audio\x1f%s\x1f%g\x1f%s", c.Chunk, c.Start, c.Said), speaker, c.Said, instant(c.At), map[string]string{"screenpipe_device": c.Device})
		case "OCR", "UI":
			key := c.App + "\x1f" + c.Window + "\x1f" + strings.Join(strings.Fields(c.Text), " ")
			if seen[key] {
				continue
			}
			seen[key] = true
			title := strings.TrimSpace(strings.Trim(c.App+": "+c.Window, ": "))
			add := r.add(Screenpipe, where, key, cmp.Or(title, "Screen"), instant(c.At), map[string]string{"screenpipe_frame": c.Frame.String(), "screenpipe_url": c.URL})
			if add == nil {
				continue
			}
			if strings.TrimSpace(c.Text) == "" || len(c.Text) > memory.MaxContent {
				r.Adds = r.Adds[:len(r.Adds)-1]
				r.skip(where, "%d bytes of text, want 1 to %d", len(c.Text), memory.MaxContent)
				continue
			}
			private := memory.Private
			add.Type, add.Sensitivity = memory.Resource, &private
			add.Fields.Resource = &memory.ResourceFields{Title: title, MediaType: "text/plain", Content: c.Text}
		default:
			r.skip(where, "type %.40q: want Audio, OCR or UI", m.Type)
		}
	}
	return nil
}
