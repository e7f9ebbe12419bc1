package foreign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/locket-dev/locket/memory"
)

// folders are the formats that a folder of files may have, with the file name extensions.
var folders = map[Format][]string{Notes: {".md", ".markdown"}, BasicMemory: {".md"}, Locations: {".json"}}

// Folders returns the formats that a folder of files may have.
func Folders() []Format { return slices.Sorted(maps.Keys(folders)) }

// ReadFolder reads a folder of files: Markdown notes, as Obsidian and others store them, or
// Google's location history by months. Folders and files whose names begin with a dot are
// skipped, and so is anything that is not a file, such as a pipe. Errors wrap
// [memory.ErrInvalid] if the format has no folders, or are that of ctx.
func ReadFolder(ctx context.Context, f Format, folder fs.FS, o Options) (Result, error) {
	r := Result{ctx: ctx, bounded: o.Bounded, left: MaxFolder}
	ends, ok := folders[f]
	if !ok {
		return r, fmt.Errorf("%w: a folder: %s wants a file", memory.ErrInvalid, f)
	}
	err := fs.WalkDir(folder, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if r.ended() {
			return r.err
		}
		if name != "." && strings.HasPrefix(d.Name(), ".") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if d.IsDir() || !slices.Contains(ends, strings.ToLower(path.Ext(name))) {
			return nil
		}
		return r.file(f, folder, name, o)
	})
	if err == nil && len(r.Adds)+len(r.Skipped) == 0 {
		err = fmt.Errorf("%w: there is no file in the folder that ends in %s", memory.ErrInvalid, strings.Join(ends, " or "))
	}
	return r, err
}

// file reads one file of a folder. Opening a pipe would wait for a writer, so the type of the
// file is checked before.
func (r *Result) file(f Format, folder fs.FS, name string, o Options) error {
	info, err := fs.Stat(folder, name)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a file")
	}
	if err != nil {
		r.skip(name, "%v", err)
		return nil
	}
	file, err := folder.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	adds, skipped, more := len(r.Adds), len(r.Skipped), r.More
	if err = r.read(f, name, file, o); r.err != nil {
		return r.err
	}
	if err != nil {
		r.Adds, r.Skipped, r.More = r.Adds[:adds], r.Skipped[:skipped], more
		r.skip(name, "%v", err)
	}
	return nil
}

// maxTags limits the tags of a note, because each of its pieces has all of them.
const maxTags = 64

var hashTag = regexp.MustCompile(`(?:^|\s)#([\p{L}\p{N}][\p{L}\p{N}_/-]*)`)

// readNote makes a resource of a note, with its title, text and tags. A note that is longer
// than a memory may be is cut into several, between paragraphs.
func readNote(r *Result, name string, b []byte) error { return readMarkdown(r, Notes, name, b) }

// observation matches a line in a note of basic-memory: "- [category] text #tag (context)".
var observation = regexp.MustCompile(`(?m)^[ \t]*- \[([^\[\]\n]{2,})\] +(.+)$`)

// readBasic makes a resource of a note of basic-memory, and a memory of each of its
// observations.
func readBasic(r *Result, name string, b []byte) error {
	if !strings.EqualFold(path.Ext(name), ".md") {
		return fmt.Errorf("%w: %s: want basic-memory's folder, or a note that ends in .md", memory.ErrInvalid, name)
	}
	first := len(r.Adds)
	if err := readMarkdown(r, BasicMemory, name, b); err != nil || len(r.Adds) == first {
		return err
	}
	note := r.Adds[first]
	_, text := frontMatter(string(b))
	for i, m := range observation.FindAllStringSubmatch(text, r.most()) {
		if r.ended() {
			break
		}
		said := strings.TrimSpace(hashTag.ReplaceAllString(m[2], ""))
		add := r.add(BasicMemory, fmt.Sprintf("%s, observation %d", name, i+1), name+"\x1fobservation\x1f"+m[0], said, note.At,
			map[string]string{"path": name, "basic_memory_note": note.Fields.Resource.Title})
		if add == nil {
			continue
		}
		add.Tags = append(add.Tags, cut(m[1]))
		for _, t := range hashTag.FindAllStringSubmatch(m[2], maxTags) {
			add.Tags = append(add.Tags, cut(t[1]))
		}
		slices.Sort(add.Tags)
		add.Tags = slices.Compact(add.Tags)
	}
	return nil
}

func readMarkdown(r *Result, f Format, name string, b []byte) error {
	if !utf8.Valid(b) {
		return fmt.Errorf("%w: %s: not UTF-8", memory.ErrInvalid, name)
	}
	front, text := frontMatter(string(b))
	text = strings.TrimSpace(text)
	title := word(front["title"])
	if first, _, _ := strings.Cut(text, "\n"); title == "" {
		title, _ = strings.CutPrefix(first, "# ")
		if title == first { // there was no heading
			title = strings.TrimSuffix(path.Base(name), path.Ext(name))
		}
	}
	if title = cut(strings.TrimSpace(title)); title == "" {
		title = path.Base(name)
	}
	tags := []string{string(f)}
	for _, t := range append(list(front["tags"]), list(front["tag"])...) {
		tags = append(tags, cut(strings.TrimPrefix(t, "#")))
	}
	for _, m := range hashTag.FindAllStringSubmatch(text, 16*maxTags) {
		tags = append(tags, cut(m[1]))
	}
	slices.Sort(tags)
	tags = slices.DeleteFunc(slices.Compact(tags), func(t string) bool { return t == "" })
	if len(tags) > maxTags {
		r.skip(name, "left out: %d of its %d tags", len(tags)-maxTags, len(tags))
		tags = append(slices.DeleteFunc(tags, func(t string) bool { return t == string(f) })[:maxTags-1:maxTags-1], string(f))
		slices.Sort(tags)
	}
	at := instant(word(front["date"]))
	for _, k := range []string{"created", "created_at"} {
		if at.IsZero() {
			at = instant(word(front[k]))
		}
	}
	pieces := inPieces(text, memory.MaxText-len(title)-64)
	for i, piece := range pieces {
		if r.ended() {
			break
		}
		where, shown := name, title
		if len(pieces) > 1 {
			where, shown = fmt.Sprintf("%s, part %d", name, i+1), fmt.Sprintf("%s (%d of %d)", title, i+1, len(pieces))
		}
		add := r.add(f, where, where+"\x1f"+piece, cmp.Or(shown, title), at, map[string]string{"path": name})
		if add != nil {
			add.Type, add.Tags = memory.Resource, tags
			add.Fields.Resource = &memory.ResourceFields{Title: shown, MediaType: "text/markdown", Content: piece}
			add.Slot = &memory.Slot{Subject: "user", Attribute: "note_" + digest(where, 6), Value: digest(shown+"\x1f"+piece, 6)}
			add.Renew = true // a changed note takes its place
		}
	}
	if len(pieces) == 0 {
		r.skip(name, "there is no text")
	}
	return nil
}

// frontMatter splits a note into the YAML between two lines of "---" at its top,
// and the rest.
func frontMatter(s string) (map[string]any, string) {
	rest, ok := strings.CutPrefix(strings.ReplaceAll(s, "\r\n", "\n"), "---\n")
	if !ok {
		return nil, s
	}
	head, body, ok := strings.Cut(rest, "\n---\n")
	if !ok || len(head) > 64<<10 {
		return nil, s
	}
	var front map[string]any
	if yaml.Unmarshal([]byte(head), &front) != nil {
		return nil, s // it is a horizontal rule, not a header
	}
	for k, v := range front {
		if t, is := v.(time.Time); is {
			front[k] = t.Format(time.RFC3339)
		}
	}
	return front, body
}

// list parses tags: a list, or words separated by commas or spaces.
func list(v any) (out []string) {
	switch v := v.(type) {
	case string:
		return strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
	case []any:
		for _, e := range v {
			out = append(out, word(e))
		}
	}
	return out
}

// inPieces cuts a text into pieces of at most n bytes: between paragraphs if possible, otherwise
// between lines, otherwise between characters. Only the blanks between two pieces are lost.
func inPieces(text string, n int) (out []string) {
	for text = strings.TrimSpace(text); len(text) > n; {
		at := 0
		for _, between := range []string{"\n\n", "\n", " "} {
			if at = strings.LastIndex(text[:n], between); at > 0 {
				break
			}
		}
		if at <= 0 {
			for at = n; !utf8.RuneStart(text[at]); at-- {
			}
		}
		out = append(out, strings.TrimSpace(text[:at]))
		text = strings.TrimSpace(text[at:])
	}
	if text != "" {
		out = append(out, text)
	}
	return out
}
