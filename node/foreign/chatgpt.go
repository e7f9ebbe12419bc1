package foreign

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/locket-dev/locket/memory"
)

// readChatGPT reads saved memories, or conversations.json of a data export. Saved
// memories are a text with one memory per line, copied from the settings or
// written by ChatGPT on request, or a JSON list. From conversations it takes only
// the user's own messages, as lines that were said.
func readChatGPT(r *Result, name string, b []byte) error {
	start := bytes.TrimSpace(b)
	if len(start) == 0 || start[0] != '[' && start[0] != '{' {
		return readSaved(r, name, b)
	}
	list, err := listIn(name, b, "a list of memories or of conversations", "memories", "results", "items", "conversations")
	if err != nil {
		return err
	}
	for i, e := range list {
		if r.ended() {
			break
		}
		where := fmt.Sprintf("%s: entry %d", name, i+1)
		switch e := e.(type) {
		case string:
			r.add(ChatGPT, where, e, e, time.Time{}, nil)
		case map[string]any:
			if mapping, is := e["mapping"].(map[string]any); is {
				r.conversation(where, e, mapping)
				continue
			}
			text := ""
			for _, k := range []string{"content", "memory", "text", "value"} {
				if text == "" {
					text = word(e[k])
				}
			}
			at := instant(e["created_at"])
			for _, k := range []string{"create_time", "updated_at", "timestamp"} {
				if at.IsZero() {
					at = instant(e[k])
				}
			}
			r.add(ChatGPT, where, cmp.Or(word(e["id"]), text), text, at, map[string]string{"chatgpt_id": word(e["id"])})
		default:
			r.skip(where, "no object and no text")
		}
	}
	return nil
}

// savedLine is a line of saved memories: a text that may begin with a bullet or
// number, and with a date in brackets.
var savedLine = regexp.MustCompile(`^\s*(?:[-*•]\s+|\d+[.)]\s+)?(?:\[(\d{4}-\d\d-\d\d)\]\s*[.:–-]?\s*)?(.*)$`)

func readSaved(r *Result, name string, b []byte) error {
	sc := bufio.NewScanner(bytes.NewReader(b))
	sc.Buffer(nil, memory.MaxText+1024)
	for n := 1; sc.Scan() && !r.ended(); n++ {
		m := savedLine.FindStringSubmatch(sc.Text())
		if m == nil || strings.TrimSpace(m[2]) == "" || strings.HasPrefix(m[2], "#") || strings.HasPrefix(m[2], "```") {
			continue
		}
		r.add(ChatGPT, fmt.Sprintf("%s, line %d", name, n), m[2], m[2], instant(m[1]), nil)
	}
	if err := sc.Err(); err != nil {
		return fmt.Errorf("%w: %s: %v", memory.ErrInvalid, name, err)
	}
	if len(r.Adds)+len(r.Skipped) == 0 {
		return fmt.Errorf("%w: %s: there is nothing in it", memory.ErrInvalid, name)
	}
	return nil
}

// conversation adds what the user said in one conversation. A conversation is a
// tree of nodes, which branches where a message was edited. The branch that was
// shown last is used; it ends at current_node.
func (r *Result) conversation(where string, c, mapping map[string]any) {
	type node struct {
		Parent  string `json:"parent"`
		Message *struct {
			ID     string `json:"id"`
			Author struct {
				Role string `json:"role"`
			} `json:"author"`
			CreateTime any `json:"create_time"`
			Content    struct {
				Type  string `json:"content_type"`
				Parts []any  `json:"parts"`
			} `json:"content"`
			Metadata struct {
				Hidden bool `json:"is_visually_hidden_from_conversation"`
			} `json:"metadata"`
		} `json:"message"`
	}
	nodes := map[string]node{}
	for _, id := range slices.Sorted(maps.Keys(mapping)) {
		if r.ended() {
			return
		}
		b, err := json.Marshal(mapping[id])
		var n node
		if err == nil {
			err = decode(where, b, &n)
		}
		if err != nil {
			r.skip(where+", node "+id, "%v", err)
			continue
		}
		nodes[id] = n
	}
	var branch []string
	seen := map[string]bool{}
	for id := word(c["current_node"]); id != "" && !seen[id]; id = nodes[id].Parent {
		seen[id] = true
		branch = append(branch, id)
	}
	if len(branch) == 0 { // an older export: use all of it
		branch = slices.Sorted(maps.Keys(nodes))
	}
	slices.Reverse(branch)
	title := word(c["title"])
	for _, id := range branch {
		m := nodes[id].Message
		if m == nil || m.Author.Role != "user" || m.Metadata.Hidden || m.Content.Type != "text" && m.Content.Type != "multimodal_text" {
			continue
		}
		var parts []string
		for _, p := range m.Content.Parts {
			if s, ok := p.(string); ok && strings.TrimSpace(s) != "" {
				parts = append(parts, s)
			}
		}
		if len(parts) == 0 {
			continue // a picture
		}
		r.addLine(ChatGPT, where+", message "+id, cmp.Or(m.ID, id), "", strings.Join(parts, "\n"), cmp.Or(instant(m.CreateTime), instant(c["create_time"])),
			map[string]string{"chatgpt_conversation": title})
	}
}
