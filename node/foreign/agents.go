package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// SecretKey is the metadata key of a line that says a secret of another system's vault; its
// value says what the secret is for. The line must never be printed: see [Shown].
const SecretKey = "mirix_secret"

// Shown returns what a person may be shown of a text that an import adds: the text, or for a
// secret what it is for.
func Shown(r *serve.AddRequest) string {
	if of := r.Metadata[SecretKey]; of != "" {
		return of + ": goes to the vault"
	}
	return r.Text
}

// mirixItem is an item of any of MIRIX's memories.
type mirixItem struct {
	ID       string   `json:"id"`
	At       any      `json:"occurred_at"`
	Created  any      `json:"created_at"`
	Event    string   `json:"event_type"`
	Actor    string   `json:"actor"`
	Name     string   `json:"name"`
	Source   string   `json:"source"`
	Title    string   `json:"title"`
	Summary  string   `json:"summary"`
	Details  string   `json:"details"`
	Content  string   `json:"content"`
	Entry    string   `json:"entry_type"`
	Steps    []string `json:"steps"`
	Caption  string   `json:"caption"`
	Secret   string   `json:"secret_value"`
	Label    string   `json:"label"`
	Value    string   `json:"value"`
	Resource string   `json:"resource_type"`
}

// readMirix reads the answer to GET /memory/components of MIRIX's server: its six kinds of
// memories, which are those of Locket.
func readMirix(r *Result, name string, b []byte) error {
	var whole struct {
		Memories map[memory.Type]struct {
			Items []json.RawMessage `json:"items"`
		} `json:"memories"`
	}
	if err := decode(name, b, &whole); err != nil {
		return err
	}
	if whole.Memories == nil {
		return fmt.Errorf("%w: %s: want the answer to GET /memory/components, with \"memories\"", memory.ErrInvalid, name)
	}
	for _, kind := range []memory.Type{memory.Episodic, memory.Semantic, memory.Procedural, memory.Resource, "knowledge_vault", memory.Core} {
		for i, raw := range whole.Memories[kind].Items {
			if r.ended() {
				break
			}
			where := fmt.Sprintf("%s: %s %d", name, kind, i+1)
			var m mirixItem
			if err := decode(where, raw, &m); err != nil {
				r.skip(where, "%v", err)
				continue
			}
			r.mirix(where, kind, &m)
		}
	}
	return nil
}

func (r *Result) mirix(where string, kind memory.Type, m *mirixItem) {
	at := cmp.Or(instant(m.At), instant(m.Created))
	metadata := map[string]string{"mirix_id": m.ID, "mirix_source": m.Source}
	key := string(kind) + "\x1f" + m.ID
	switch kind {
	case "knowledge_vault":
		said, ok := secretLine(m.Caption, m.Secret)
		if !ok {
			r.skip(where, "a secret with blanks or lines, or without a caption: add it by hand, and say what it is for")
			return
		}
		metadata[SecretKey] = cut(m.Caption)
		if add := r.addLine(Mirix, where, key, "", said, at, metadata); add != nil {
			add.Secret = m.Secret
		}
		return
	case memory.Core:
		if strings.EqualFold(m.Label, "persona") {
			r.skip(where, "it is about the assistant")
			return
		}
		r.lines(Mirix, where, key, m.Label, m.Value, metadata)
		return
	}
	text := m.Summary
	if kind == memory.Semantic && m.Name != "" && !strings.Contains(m.Summary, m.Name) {
		text = m.Name + ": " + m.Summary
	}
	add := r.add(Mirix, where, key, text, at, metadata)
	if add == nil {
		return
	}
	add.Type = kind
	switch kind {
	case memory.Episodic:
		actor := m.Actor
		if strings.EqualFold(actor, "user") {
			actor = ""
		}
		add.Fields.Episodic = &memory.EpisodicFields{EventType: cut(m.Event), Details: m.Details, Actor: cut(actor), Started: at}
	case memory.Semantic:
		add.Fields.Semantic = &memory.SemanticFields{Name: cut(m.Name), Details: m.Details}
	case memory.Procedural:
		if len(m.Steps) == 0 {
			add.Type = memory.Semantic
			return
		}
		add.Fields.Procedural = &memory.ProceduralFields{EntryType: cut(m.Entry), Description: m.Details, Steps: m.Steps}
	case memory.Resource:
		add.Fields.Resource = &memory.ResourceFields{Title: m.Title, MediaType: "text/plain", Content: m.Content}
	}
}

// lines adds each line of a block of text that an assistant always has in its context.
func (r *Result) lines(f Format, where, key, label, text string, metadata map[string]string) {
	if label != "" {
		metadata[string(f)+"_block"] = label
	}
	for line := range strings.Lines(text) {
		if r.ended() {
			break
		}
		if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "-*• ")); line != "" {
			r.add(f, where, key+"\x1f"+line, line, instant(nil), metadata)
		}
	}
}

// secretLine returns a line that says a secret as a person would, so that the extractors
// recognise it.
func secretLine(caption, secret string) (string, bool) {
	words := strings.FieldsFunc(caption, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '-' })
	for i, w := range words {
		words[i] = strings.Trim(w, "-")
	}
	of := strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
	if of == "" || len(of) > memory.MaxName || len(secret) < 4 || len(secret) > 512 ||
		strings.ContainsFunc(secret, func(c rune) bool { return !unicode.IsGraphic(c) || unicode.IsSpace(c) }) {
		return "", false
	}
	return "The password for " + of + " is " + secret, true
}

// readLetta reads an agent file of Letta (.af), in the present schema or the one before
// 2025-08, or a list of archival passages.
func readLetta(r *Result, name string, b []byte) error {
	type block struct {
		ID    string `json:"id"`
		Label string `json:"label"`
		Value string `json:"value"`
	}
	type message struct {
		ID      string          `json:"id"`
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Text    string          `json:"text"`
		Created any             `json:"created_at"`
	}
	if strings.HasPrefix(strings.TrimSpace(string(b)), "[") {
		return readPassages(r, name, b)
	}
	var file struct {
		Agents []struct {
			ID       string    `json:"id"`
			Name     string    `json:"name"`
			Messages []message `json:"messages"`
		} `json:"agents"`
		Blocks   []block   `json:"blocks"`
		Core     []block   `json:"core_memory"` // before 2025-08: of the only agent in the file
		Messages []message `json:"messages"`    // the same
		Name     string    `json:"name"`
	}
	if err := decode(name, b, &file); err != nil {
		return err
	}
	if file.Blocks == nil && file.Core == nil {
		return fmt.Errorf("%w: %s: want an agent file with \"blocks\" or \"core_memory\", or a list of passages", memory.ErrInvalid, name)
	}
	for i, b := range append(file.Blocks, file.Core...) {
		where := fmt.Sprintf("%s: block %d", name, i+1)
		if strings.EqualFold(b.Label, "persona") {
			r.skip(where, "it is about the assistant")
			continue
		}
		r.lines(Letta, where, "block\x1f"+b.Label, b.Label, b.Value, map[string]string{})
	}
	said := func(agent, of string, list []message) {
		for i, m := range list {
			if r.ended() {
				break
			}
			if m.Role != "user" {
				continue
			}
			where := fmt.Sprintf("%s: message %d of %s", name, i+1, of)
			text := cmpText(m.Content, m.Text)
			if strings.HasPrefix(strings.TrimSpace(text), "{") {
				var packed struct {
					Type    string `json:"type"`
					Message string `json:"message"`
				}
				if json.Unmarshal([]byte(text), &packed) == nil && packed.Type != "" {
					if packed.Type != "user_message" {
						continue // a heartbeat or a login, which nobody said
					}
					text = packed.Message
				}
			}
			id := cmp.Or(m.ID, text)
			r.addLine(Letta, where, agent+"\x1f"+id+"\x1f"+text, "", text, instant(m.Created), map[string]string{"letta_agent": of})
		}
	}
	for _, a := range file.Agents {
		said(a.ID, a.Name, a.Messages)
	}
	said("", file.Name, file.Messages)
	return nil
}

// readPassages reads the archival memory of a Letta agent.
func readPassages(r *Result, name string, b []byte) error {
	var passages []struct {
		ID      string   `json:"id"`
		Text    string   `json:"text"`
		Created any      `json:"created_at"`
		Tags    []string `json:"tags"`
	}
	if err := decode(name, b, &passages); err != nil {
		return err
	}
	for i, p := range passages {
		if r.ended() {
			break
		}
		if add := r.add(Letta, fmt.Sprintf("%s: passage %d", name, i+1), p.ID, p.Text, instant(p.Created), map[string]string{"letta_id": p.ID}); add != nil {
			for _, t := range p.Tags {
				add.Tags = append(add.Tags, cut(t))
			}
		}
	}
	return nil
}

// cmpText returns a message's text, from a text or a list of parts.
func cmpText(content json.RawMessage, text string) string {
	var plain string
	if json.Unmarshal(content, &plain) == nil && plain != "" {
		return plain
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &parts) == nil {
		var all []string
		for _, p := range parts {
			if p.Type == "text" {
				all = append(all, p.Text)
			}
		}
		if len(all) > 0 {
			return strings.Join(all, "\n")
		}
	}
	return text
}
