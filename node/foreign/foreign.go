// Package foreign reads the exports of assistants, chats, mailboxes, calendars and note-taking
// programs, as texts that a node can add: memories, notes, mails, appointments and visits
// unchanged, with the other system's name as a tag, and what was said as lines for the extractors.
//
// Each text has a key made of the format and the other system's id for it, so that an import
// can be repeated.
package foreign

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/node/serve"
)

// Format is the format of an export.
type Format string

const (
	Mem0    Format = "mem0"    // the JSON of Mem0's get_all, search and export
	ChatGPT Format = "chatgpt" // saved memories, as text or JSON, or conversations.json
	Notes   Format = "notes"   // a Markdown file, or a folder of them

	Claude    Format = "claude"    // conversations.json of Claude's data export
	WhatsApp  Format = "whatsapp"  // a chat that was exported without media
	Telegram  Format = "telegram"  // result.json of Telegram Desktop
	Mbox      Format = "mbox"      // a mailbox in one file
	Calendar  Format = "calendar"  // iCalendar (RFC 5545), as every calendar program exports it
	Locations Format = "locations" // Google's location history: Timeline.json, or Takeout's semantic location files

	Mirix       Format = "mirix"        // the answer to GET /memory/components
	Letta       Format = "letta"        // an agent file, or a list of passages
	Omi         Format = "omi"          // memories of its developer API, or conversations
	Screenpipe  Format = "screenpipe"   // the answer to GET /search
	BasicMemory Format = "basic-memory" // its folder of Markdown
)

// Formats are all formats.
var Formats = []Format{Mem0, ChatGPT, Claude, Notes, WhatsApp, Telegram, Mbox, Calendar, Locations, Mirix, Letta, Omi, Screenpipe, BasicMemory}

// Orders are the possible orders of a date.
var Orders = []string{"dmy", "mdy", "ymd"}

// Options say what an export does not say itself.
type Options struct {
	Zone  *time.Location // for times without a zone; nil: UTC
	Me    []string       // names that the wearer has in chats
	Dates string         // one of Orders; empty: as the dates of the chat suggest

	// Bounded limits what is read to MaxAdds, MaxHeld and MaxFolder, for a process that has
	// other work to do. Exceeding a limit is an error.
	Bounded bool
}

func (o *Options) zone() *time.Location {
	if o.Zone == nil {
		return time.UTC
	}
	return o.Zone
}

// speaker returns who said a line; empty: the wearer.
func (o *Options) speaker(name string) string {
	if slices.ContainsFunc(o.Me, func(me string) bool { return memory.Normal(me) == memory.Normal(name) }) {
		return ""
	}
	return name
}

// MaxFile is the maximum size of a file, in bytes: a ChatGPT export of some years has a few
// hundred megabytes.
const MaxFile = 1 << 30

// Skipped is something that was not imported, and why.
type Skipped struct {
	Where  string
	Reason string
}

// Result is what was read.
type Result struct {
	Adds    []serve.AddRequest
	Ends    []serve.AddRequest // after Adds: what was imported earlier and is over
	Skipped []Skipped          // the first MaxSkipped ones
	More    int                // how many more were skipped

	ctx     context.Context // the context of the reading, which is a single call
	bounded bool
	alone   bool  // it is a single file; in a folder, an empty note is silently skipped
	left    int64 // bytes that may still be read from files
	held    int   // bytes of texts and metadata
	err     error // why reading stopped
}

// add adds a text, unless it is empty.
func (r *Result) add(f Format, where, key, text string, at time.Time, metadata map[string]string) *serve.AddRequest {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		r.skip(where, "there is no text")
		return nil
	case !utf8.ValidString(text):
		r.skip(where, "not UTF-8")
		return nil
	case len(text) > memory.MaxText:
		r.skip(where, "%d bytes of text, at most %d", len(text), memory.MaxText)
		return nil
	}
	of := bounded(metadata)
	r.held += len(text) + len(where)
	for k, v := range of {
		r.held += len(k) + len(v)
	}
	if r.ended() {
		return nil
	}
	no := false
	r.Adds = append(r.Adds, serve.AddRequest{Text: text, Infer: &no, At: at, Tags: []string{string(f)}, Metadata: of,
		Key: string(f) + "-" + digest(key, 12)})
	return &r.Adds[len(r.Adds)-1]
}

// digest returns the first n bytes of a text's SHA-256, in hexadecimal.
func digest(text string, n int) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:n])
}

// bounded keeps as much metadata as a memory may have.
func bounded(m map[string]string) memory.Metadata {
	out := memory.Metadata{}
	for k, v := range m {
		if k != "" && v != "" && len(k) <= memory.MaxName && len(v) <= memory.MaxMetadataValue && len(out) < memory.MaxMetadata {
			out[k] = v
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// Read reads a file of a format. name is used in messages. A line that was said at an unknown
// time is marked as undated. Errors wrap [memory.ErrInvalid] if the file does not have that
// format or exceeds a limit, or are that of ctx.
func Read(ctx context.Context, f Format, name string, from io.Reader, o Options) (Result, error) {
	r := Result{ctx: ctx, bounded: o.Bounded, left: MaxFile, alone: true}
	err := r.read(f, name, from, o)
	return r, err
}

func (r *Result) read(f Format, name string, from io.Reader, o Options) error {
	first := len(r.Adds)
	err := r.readAny(f, name, from, o)
	if r.ended() {
		return r.err
	}
	r.undated(first)
	if want := readers[f].want; errors.Is(err, memory.ErrInvalid) && want != "" && !strings.Contains(err.Error(), "want ") {
		err = fmt.Errorf("%w: want %s", err, want)
	}
	return err
}

// undated marks lines with an unknown time, starting at the first one that is not marked yet.
func (r *Result) undated(first int) {
	for i := first; i < len(r.Adds); i++ {
		a := &r.Adds[i]
		a.Undated = a.Infers() && a.At.IsZero()
	}
}

// readers has, for each format, its reader, and a description of its files for messages.
var readers = map[Format]struct {
	read func(r *Result, name string, b []byte, o Options) error
	want string
}{
	Mem0:        {alone(readMem0), "the JSON of Mem0's get_all or export: a list of memories, or one under \"results\""},
	ChatGPT:     {alone(readChatGPT), "conversations.json, or saved memories as text or JSON"},
	Notes:       {alone(readNote), ""},
	Claude:      {alone(readClaude), "conversations.json of Claude's data export, a list of conversations"},
	WhatsApp:    {readWhatsApp, ""},
	Telegram:    {readTelegram, "result.json of Telegram Desktop"},
	Mbox:        {alone(readMbox), ""},
	Calendar:    {readCalendar, ""},
	Locations:   {readLocations, "Timeline.json, or a file of Takeout's Semantic Location History"},
	Mirix:       {alone(readMirix), "the answer to GET /memory/components, with \"memories\""},
	Letta:       {alone(readLetta), "an agent file with \"blocks\" or \"core_memory\", or a list of passages"},
	Omi:         {readOmi, "a list of memories, or conversations with \"transcript_segments\""},
	Screenpipe:  {alone(readScreenpipe), "the answer to GET /search, with a list under \"data\""},
	BasicMemory: {alone(readBasic), ""},
}

// alone makes a reader of one that needs no options.
func alone(read func(r *Result, name string, b []byte) error) func(*Result, string, []byte, Options) error {
	return func(r *Result, name string, b []byte, _ Options) error { return read(r, name, b) }
}

func (r *Result) readAny(f Format, name string, from io.Reader, o Options) error {
	known, ok := readers[f]
	if !ok {
		return fmt.Errorf("%w: format %q: want one of %v", memory.ErrInvalid, f, Formats)
	}
	b, err := r.bytes(name, from)
	if err != nil {
		return err
	}
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(b)) == 0 && (r.alone || f != Notes && f != BasicMemory) {
		return fmt.Errorf("%w: %s: it is empty", memory.ErrInvalid, name)
	}
	if err := r.weigh(f, name, b); err != nil {
		return err
	}
	return known.read(r, name, b, o)
}

// Guess returns the format of a file, judging from its beginning, or "" if it is none of them.
func Guess(name string, start []byte) Format {
	start = bytes.TrimSpace(bytes.TrimPrefix(start, []byte("\xef\xbb\xbf")))
	switch text := string(start); {
	case strings.HasSuffix(strings.ToLower(name), ".md"), strings.HasSuffix(strings.ToLower(name), ".markdown"):
		return Notes
	case strings.HasPrefix(text, "From "):
		return Mbox
	case strings.HasPrefix(strings.ToUpper(text[:min(len(text), 64)]), "BEGIN:VCALENDAR"):
		return Calendar
	case whatsAppHead.MatchString(strings.SplitN(strings.NewReplacer("\u200e", "", "\u202f", " ").Replace(text), "\n", 2)[0]):
		return WhatsApp
	case !strings.HasPrefix(text, "{") && !strings.HasPrefix(text, "["):
		return ""
	case strings.Contains(text, `"transcript_segments"`):
		return Omi
	case strings.Contains(text, `"memories"`) && (strings.Contains(text, `"episodic"`) || strings.Contains(text, `"memory_type"`)):
		return Mirix
	case strings.Contains(text, `"agent_type"`), strings.Contains(text, `"core_memory"`):
		return Letta
	case strings.Contains(text, `"frame_id"`), strings.Contains(text, `"transcription"`):
		return Screenpipe
	case strings.Contains(text, `"chat_messages"`):
		return Claude
	case strings.Contains(text, `"semanticSegments"`), strings.Contains(text, `"timelineObjects"`):
		return Locations
	case strings.Contains(text, `"personal_information"`), strings.Contains(text, `"messages"`) && strings.Contains(text, `"date_unixtime"`):
		return Telegram
	case strings.Contains(text, `"mapping"`):
		return ChatGPT
	case strings.Contains(text, `"memory"`) && !strings.Contains(text, `"kind"`):
		return Mem0
	}
	return ""
}

// instant parses a time in the forms that these systems use: RFC 3339, with or without a zone
// (UTC), a date, or seconds since 1970. It returns the zero time for anything else.
func instant(v any) time.Time {
	switch v := v.(type) {
	case string:
		for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", time.DateOnly} {
			if t, err := time.Parse(layout, v); err == nil {
				return t
			}
		}
		if f, err := strconv.ParseFloat(v, 64); err == nil {
			return seconds(f)
		}
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return seconds(f)
		}
	}
	return time.Time{}
}

func seconds(f float64) time.Time {
	if f <= 0 || f > 253402300799 { // the year 9999
		return time.Time{}
	}
	return time.UnixMicro(int64(f * 1e6)).UTC()
}

// word converts a JSON text, number or boolean to text.
func word(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	case nil:
		return ""
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// listIn decodes a list, bare or under the first of the keys that has one. want says what was
// expected.
func listIn(name string, b []byte, want string, keys ...string) ([]any, error) {
	var whole any
	if err := decode(name, b, &whole); err != nil {
		return nil, err
	}
	if list, ok := whole.([]any); ok {
		return list, nil
	}
	m, _ := whole.(map[string]any)
	for _, key := range keys {
		if list, ok := m[key].([]any); ok {
			return list, nil
		}
	}
	return nil, fmt.Errorf("%w: %s: want %s", memory.ErrInvalid, name, want)
}

func decode(name string, b []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	err := dec.Decode(v)
	if err == nil {
		if _, end := dec.Token(); end != io.EOF {
			err = fmt.Errorf("something follows the JSON value")
		}
	}
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		at := ""
		if t.Field != "" {
			at = fmt.Sprintf(" in %q", t.Field)
		}
		return fmt.Errorf("%w: %s: at byte %d: the %s%s is not of the expected type", memory.ErrInvalid, name, dec.InputOffset(), t.Value, at)
	}
	if err != nil {
		return fmt.Errorf("%w: %s: at byte %d: no JSON: %v", memory.ErrInvalid, name, dec.InputOffset(), err)
	}
	return nil
}
