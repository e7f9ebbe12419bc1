package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// mem0Memory is one memory in the form of Mem0 1.x to 3.x (docs.mem0.ai, get-all
// and export): older versions have "text" instead of "memory", and "data" within
// it.
type mem0Memory struct {
	ID         any             `json:"id"`
	Memory     any             `json:"memory"`
	Text       string          `json:"text"`
	Data       any             `json:"data"`
	Content    string          `json:"content"` // OpenMemory
	State      string          `json:"state"`   // OpenMemory: active, paused, archived, deleted
	UserID     string          `json:"user_id"`
	AgentID    string          `json:"agent_id"`
	AppID      string          `json:"app_id"`
	RunID      string          `json:"run_id"`
	Metadata   map[string]any  `json:"metadata"`
	Categories json.RawMessage `json:"categories"`
	CreatedAt  any             `json:"created_at"`
	Expires    any             `json:"expiration_date"`
}

// readMem0 reads {"results": […]}, {"memories": […]}, or the bare list, and also
// several of these, one per line.
func readMem0(r *Result, name string, b []byte) error {
	list, err := listIn(name, b, "a list of memories, or one under \"results\"", "results", "memories", "data", "items")
	if err != nil {
		return err
	}
	for i, e := range list {
		if r.ended() {
			break
		}
		where := fmt.Sprintf("%s: memory %d", name, i+1)
		b, err := json.Marshal(e)
		if err != nil {
			return err
		}
		var m mem0Memory
		if err := decode(where, b, &m); err != nil {
			r.skip(where, "%v", err)
			continue
		}
		if m.State == "deleted" || m.State == "archived" {
			r.skip(where, "it is %s there", m.State)
			continue
		}
		text := cmp.Or(m.Text, m.Content)
		for _, v := range []any{m.Memory, m.Data} {
			switch v := v.(type) {
			case string:
				text = v
			case map[string]any:
				text = word(v["memory"])
			}
			if text != "" {
				break
			}
		}
		metadata := map[string]string{"mem0_id": word(m.ID), "mem0_app": m.AppID}
		for k, v := range m.Metadata {
			metadata[k] = word(v)
		}
		if end := instant(m.Expires); !end.IsZero() && end.Before(time.Now()) {
			r.skip(where, "it expired on %s", end.Format(time.DateOnly))
			continue
		}
		key := cmp.Or(word(m.ID), m.UserID+"\x1f"+text)
		add := r.add(Mem0, where, key, text, instant(m.CreatedAt), metadata)
		if add == nil {
			continue
		}
		add.Agent, add.Run, add.Expires = cut(m.AgentID), cut(m.RunID), instant(m.Expires)
		var categories []string
		if json.Unmarshal(m.Categories, &categories) == nil {
			for _, c := range categories {
				if c = cut(strings.TrimSpace(c)); c != "" {
					add.Tags = append(add.Tags, c)
				}
			}
		}
		if m.UserID != "" && len(add.Metadata) < memory.MaxMetadata {
			if add.Metadata == nil {
				add.Metadata = memory.Metadata{}
			}
			add.Metadata["mem0_user"] = cut(m.UserID)
		}
	}
	return nil
}

// cut shortens a name to its limit.
func cut(s string) string {
	if len(s) <= memory.MaxName {
		return s
	}
	return strings.ToValidUTF8(s[:memory.MaxName], "")
}
