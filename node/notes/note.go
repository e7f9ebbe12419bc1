package notes

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// FORMAT of a note
//
//	---
//	locket: ID              of the memory
//	type: semantic
//	date: 2026-03-01
//	tags: [a, b]
//	people: ["[[People/Ann|Ann]]"]
//	places: […]
//	…                       properties of a person's own
//	---
//	text
//
//	## Steps                a procedure's, numbered
//	## Content              a resource's
//
//	%% locket: Locket writes this again %%
//	links and embedded files
//	%% /locket %%
//	…                       a person's own words
//
// A page has no text, and a person's own words may be above the block, too. Characters of
// a memory's text that Markdown or a plugin of Obsidian would interpret are escaped with a
// backslash, because a memory may say what a stranger said, which must not become links,
// remote pictures or code.
const (
	blockBegin = "%% locket: Locket writes this again %%"
	blockEnd   = "%% /locket %%"
	stepsHead  = "## Steps"
	bodyHead   = "## Content"
)

// ourKeys are the properties that Locket writes.
var ourKeys = []string{"locket", "type", "date", "tags", "people", "places"}

// note is what a note says about its memory, and what a person wrote beside that.
type note struct {
	Text    string
	Steps   []string
	Content string
	Tags    []string

	extra string // properties with other names, as YAML
	above string // the text above the block: in a page a person's words, in a note its text
	tail  string // a person's words after the block
	block string // as it was found
	bad   error  // why the text can't be accepted; wraps memory.ErrInvalid
}

// sum returns the digest of what a note says about its memory.
func (n *note) sum() string {
	b, _ := json.Marshal([]any{n.Text, slices.Concat([]string{}, n.Steps), n.Content, slices.Concat([]string{}, n.Tags)}) // strings can always be encoded
	return digest(b)
}

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// made is a note or page without a person's own words.
type made struct {
	head  []string // lines of properties
	text  string   // the text with its sections; empty for a page
	block string
}

// with adds a person's own words; n may be nil. The text above the block is the person's
// only in a page: in a note it is the memory's text, which d.text replaces.
func (d *made) with(n *note) []byte {
	var b bytes.Buffer
	b.WriteString("---\n" + strings.Join(d.head, "\n") + "\n")
	above, tail := d.text, ""
	if n != nil {
		b.WriteString(n.extra)
		tail = n.tail
		if d.text == "" {
			above = n.above
		}
	}
	b.WriteString("---\n")
	if above != "" {
		b.WriteString(above + "\n\n")
	}
	b.WriteString(blockBegin + "\n" + d.block + blockEnd + "\n")
	if tail != "" {
		b.WriteString("\n" + tail + "\n")
	}
	return b.Bytes()
}

// links are the links in a note.
type links struct {
	day, file      string // paths; file may be empty
	people, places []string
}

// render makes the note of a memory.
func render(m *memory.Memory, l links, zone *time.Location) *made {
	d := &made{head: []string{"locket: " + m.ID.String(), "type: " + string(m.Type), "date: " + when(m, zone).In(zone).Format(time.DateOnly)}}
	d.head = append(d.head, property("tags", tagsOf(m))...)
	d.head = append(d.head, property("people", l.people)...)
	d.head = append(d.head, property("places", l.places)...)
	d.text = escape(strings.TrimSpace(m.Text))
	if f := m.Fields.Procedural; f != nil && len(f.Steps) > 0 {
		d.text += "\n\n" + stepsHead + "\n"
		for i, s := range f.Steps {
			d.text += fmt.Sprintf("\n%d. %s", i+1, strings.ReplaceAll(escape(strings.TrimSpace(s)), "\n", "\n   "))
		}
	}
	if f := m.Fields.Resource; f != nil && strings.TrimSpace(f.Content) != "" && f.Content != m.Text {
		d.text += "\n\n" + bodyHead + "\n\n" + escape(strings.TrimSpace(f.Content))
	}
	d.block = strings.Join(slices.Concat([]string{l.day}, l.people, l.places), " · ") + "\n"
	if l.file != "" {
		d.block += "\n![[" + l.file + "]]\n"
	}
	return d
}

// property returns a list of texts as YAML, which accepts JSON's strings.
func property(name string, values []string) []string {
	if len(values) == 0 {
		return nil
	}
	out := []string{name + ":"}
	for _, v := range values {
		b, _ := json.Marshal(v) // strings can always be encoded
		out = append(out, "  - "+string(b))
	}
	return out
}

// tagsOf returns a memory's tags in the form of Obsidian, whose tags have no spaces.
func tagsOf(m *memory.Memory) []string {
	var out []string
	for _, t := range m.Tags {
		if t = tagOf(t); t != "" {
			out = append(out, t)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// reserved reports whether a tag has a meaning for Locket itself. No edit sets or removes
// such a tag, because that would change who may see a memory, or hide it.
func reserved(tag string) bool {
	tag = strings.ToLower(strings.TrimSpace(tag))
	return tag == memory.WaitingTag || strings.HasPrefix(tag, "locket:")
}

// tagOf returns a tag in the form of a note; empty: the note doesn't show it.
func tagOf(t string) string {
	if reserved(t) {
		return ""
	}
	return strings.Trim(strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("_-/", c) {
			return c
		}
		return '-'
	}, t), "-")
}

// parsed returns what the note of a memory says when nobody has edited it.
func parsed(m *memory.Memory) note {
	n, err := parse(render(m, links{}, time.UTC).with(nil))
	if err != nil {
		return note{} // its properties are ours, and can be parsed
	}
	return *n
}

// active are the characters that are escaped with a backslash; other characters may also
// be escaped.
const active = "\\`[]<~#%"

func escape(s string) string {
	var b strings.Builder
	for _, c := range strings.ReplaceAll(s, "\r", "") {
		if c < 0x80 && strings.ContainsRune(active, c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}

var (
	wikilink = regexp.MustCompile(`!?\[\[([^\[\]|\n]*)(?:\|([^\[\]\n]*))?\]\]`)
	escaped  = regexp.MustCompile("\\\\([!-/:-@\\[-`{-~])")
	numbered = regexp.MustCompile(`^\d+[.)] `)
)

// unescape reverses escape. A wikilink that a person wrote counts as its words.
func unescape(s string) string {
	s = wikilink.ReplaceAllStringFunc(s, func(l string) string {
		m := wikilink.FindStringSubmatch(l)
		if m[2] != "" {
			return m[2]
		}
		name, _, _ := strings.Cut(m[1], "#")
		return name[strings.LastIndexByte(name, '/')+1:]
	})
	return strings.TrimSpace(escaped.ReplaceAllString(s, "$1"))
}

// ownLines returns the lines of properties with other names than ours. They are kept
// unchanged, with the lines that belong to them.
func ownLines(head string) string {
	var out strings.Builder
	ours := false
	for line := range strings.SplitSeq(strings.Trim(head, "\n"), "\n") {
		if line != "" && !strings.ContainsAny(line[:1], " \t-#") {
			key, _, _ := strings.Cut(line, ":")
			ours = slices.Contains(ourKeys, strings.Trim(key, "\"' "))
		}
		if !ours && line != "" {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}

// split splits a file into its properties, both parsed and as they were written, and the
// rest.
func split(b []byte) (front map[string]yaml.Node, head, body string, err error) {
	s := strings.ReplaceAll(string(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))), "\r\n", "\n")
	rest, ok := strings.CutPrefix(s, "---\n")
	if !ok {
		return nil, "", s, nil
	}
	head, body, ok = strings.Cut("\n"+rest, "\n---\n")
	if !ok {
		if head, ok = strings.CutSuffix("\n"+rest, "\n---"); !ok {
			return nil, "", s, nil
		}
	}
	if len(head) > 64<<10 {
		return nil, "", "", fmt.Errorf("%w: its properties have %d bytes, at most %d", memory.ErrInvalid, len(head), 64<<10)
	}
	if err := yaml.Unmarshal([]byte(head), &front); err != nil {
		return nil, "", "", fmt.Errorf("%w: its properties can't be read: %v", memory.ErrInvalid, err)
	}
	return front, head, body, nil
}

// idOf returns the id of the memory whose note a file is. It is zero if the file is not a
// note.
func idOf(front map[string]yaml.Node) (id memory.ID) {
	v := front["locket"]
	id, err := memory.ParseID(v.Value)
	if err != nil {
		return memory.ID{}
	}
	return id
}

// parse parses a note or a page. Errors wrap [memory.ErrInvalid].
func parse(b []byte) (*note, error) {
	front, head, body, err := split(b)
	if err != nil {
		return nil, err
	}
	n := &note{Tags: []string{}}
	if t, ok := front["tags"]; ok {
		if n.Tags, err = words(&t); err != nil {
			return nil, fmt.Errorf("%w: the property tags: want a list of words", memory.ErrInvalid)
		}
	}
	n.extra = ownLines(head)
	body, rest, found := strings.Cut(body, blockBegin+"\n")
	if found {
		if n.block, n.tail, found = strings.Cut(rest, blockEnd); !found {
			return nil, fmt.Errorf("%w: the line %q is missing", memory.ErrInvalid, blockEnd)
		}
		n.tail = strings.TrimSpace(n.tail)
	}
	n.above = strings.TrimSpace(body)
	body, content, found := strings.Cut("\n"+body, "\n"+bodyHead+"\n")
	if found {
		n.Content = unescape(content)
	}
	body, steps, _ := strings.Cut(body, "\n"+stepsHead+"\n")
	for line := range strings.SplitSeq(strings.TrimSpace(steps), "\n") {
		switch line = strings.TrimRight(line, " \t"); {
		case numbered.MatchString(line):
			n.Steps = append(n.Steps, numbered.ReplaceAllString(line, ""))
		case len(n.Steps) > 0:
			n.Steps[len(n.Steps)-1] += "\n" + strings.TrimPrefix(line, "   ")
		case line != "":
			n.bad = fmt.Errorf("%w: under %q: %.40q is not a numbered step", memory.ErrInvalid, stepsHead, line)
		}
	}
	for i := range n.Steps {
		n.Steps[i] = unescape(n.Steps[i])
	}
	n.Text = unescape(body)
	return n, nil
}

// words parses tags: a list, or words separated by commas or spaces.
func words(v *yaml.Node) (out []string, err error) {
	out = []string{}
	if v.Kind == yaml.ScalarNode {
		if v.Tag != "!!null" {
			out = append(out, strings.FieldsFunc(v.Value, func(r rune) bool { return r == ',' || r == ' ' })...)
		}
	} else if err := v.Decode(&out); err != nil {
		return nil, err
	}
	for i := range out {
		out[i] = strings.TrimPrefix(out[i], "#")
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// edit returns the changes that turn the memory m, whose note says n, into what the edited
// note has says. Errors wrap [memory.ErrInvalid].
func (n *note) edit(has *note, m *memory.Memory, path string) (serve.UpdateRequest, error) {
	r := serve.UpdateRequest{Reason: fmt.Sprintf("edited in the note %q", path)}
	if has.Text != n.Text {
		r.Text = &has.Text
	}
	if f := m.Fields.Procedural; f != nil && !slices.Equal(n.Steps, has.Steps) {
		g := *f
		g.Steps = has.Steps
		r.Fields = &memory.Fields{Procedural: &g}
	}
	if f := m.Fields.Resource; f != nil && n.Content != has.Content {
		g := *f
		g.Content = has.Content
		r.Fields = &memory.Fields{Resource: &g}
	}
	for _, t := range has.Tags {
		if reserved(t) {
			return r, fmt.Errorf("%w: the tag %q is one that only Locket sets", memory.ErrInvalid, t)
		}
		if !slices.Contains(n.Tags, t) {
			r.Tag = append(r.Tag, t)
		}
	}
	for _, t := range m.Tags {
		if shown := tagOf(t); shown != "" && !slices.Contains(has.Tags, shown) {
			r.Untag = append(r.Untag, t)
		}
	}
	return r, nil
}
