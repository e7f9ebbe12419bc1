package day

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/locket-dev/locket/internal/media"
	"github.com/locket-dev/locket/memory"
)

// Replay says how loose files become events.
type Replay struct {
	Device string    // for files that name no device
	Boot   uint64    // for all; a new one for each replay separates its events from an earlier one's
	End    time.Time // when the last of the files without times ends
	Zone   string    // IANA name, for files that have none; may be empty
}

// Spacing is the time between two lines of a text file, which has no times, and between two files.
const Spacing = 2 * time.Second

// ReadFiles reads files in order and returns the events that a wearable would publish for them: WAV
// in parts of a second, Ogg Opus packet by packet, PNG and JPEG unchanged, .jsonl in the day's
// format with its own devices and times, and text in UTF-8, one event a line. Text is in a file
// named .txt or .md, or in one whose name has no extension, and it is not JSON. Errors name the
// file, and the line or the offset in it.
func (r Replay) ReadFiles(paths ...string) ([]Event, error) {
	if r.Device == "" {
		return nil, fmt.Errorf("replay: %w: no device name", ErrInvalid)
	}
	var all []Event
	var placed []int // indexes in all of events whose times are assigned here
	begin := time.Unix(0, 0)
	at := begin
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			return nil, fmt.Errorf("replay: %w", err)
		}
		events, end, err := r.file(p, b, at)
		if err != nil {
			return nil, fmt.Errorf("replay: %s%w", p, err)
		}
		if !end.IsZero() {
			for i := range events {
				placed = append(placed, len(all)+i)
			}
			at = end.Add(Spacing)
		}
		all = append(all, events...)
	}
	length := at.Add(-Spacing).Sub(begin)
	for _, i := range placed {
		all[i].At = r.End.Add(all[i].At.Sub(begin) - length)
	}
	seq := sequencer{}
	for i := range all {
		seq.number(&all[i].Event, r.Boot)
	}
	return all, nil
}

// file returns one file's events, beginning at the time at, and the time at which they end: the
// zero time if they have their own times. Its errors begin with the part after the file's name.
func (r Replay) file(path string, b []byte, at time.Time) ([]Event, time.Time, error) {
	first := Event{Line: 1, Event: memory.Event{
		ID: memory.EventID{Device: r.Device}, At: at, Clock: memory.ClockWall, Zone: r.Zone,
	}}
	ext := strings.ToLower(filepath.Ext(path))
	if ext == ".jsonl" {
		events, err := r.jsonl(path, b)
		return events, time.Time{}, err
	}
	switch format := media.Sniff(b); format {
	case media.WAV, media.OggOpus:
		first.Kind = memory.KindAudio
		events, end, err := audioEvents(first, b)
		if err != nil {
			return nil, at, fmt.Errorf(": %w", err)
		}
		return events, end, nil
	case media.PNG, media.JPEG:
		if _, _, err := media.Picture(b); err != nil {
			return nil, at, fmt.Errorf(": %w", err)
		}
		first.Kind, first.Codec, first.Data = memory.KindPhoto, string(format), b
		return []Event{first}, at, nil
	}
	if want, ok := named[ext]; ok {
		return nil, at, fmt.Errorf(": %w: offset 0: no %s, which its name says it is", media.ErrFormat, want)
	}
	events, end, err := textEvents(first, b)
	switch {
	case err != nil:
		return nil, at, err
	case len(events) == 0:
		return nil, at, fmt.Errorf(": %w: nothing is in it", ErrInvalid)
	case beginsJSON(b):
		return nil, at, fmt.Errorf(":%d: %w: it has JSON in it, not what somebody said: a file of events is named .jsonl", events[0].Line, media.ErrFormat)
	case !slices.Contains(ofText, ext):
		return nil, at, fmt.Errorf(": %w: %s files can't be replayed: want .jsonl, .wav, .ogg, .opus, .png, .jpg, or text in a file named .txt or .md", media.ErrFormat, filepath.Ext(path))
	}
	return events, end, nil
}

// ofText are the extensions of text that may be what somebody said. Other text is a table, a page or
// a program, and a pipe has no extension.
var ofText = []string{"", ".txt", ".text", ".md", ".markdown"}

// beginsJSON reports whether the first line of a text begins an object or a list of JSON.
func beginsJSON(b []byte) bool {
	line, _, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(string(b), "\ufeff")), "\n")
	line = strings.TrimSpace(line)
	return line == "{" || line == "[" || strings.HasPrefix(line, `{"`) || strings.HasPrefix(line, "[{")
}

// named are the formats that file names suggest, by their extensions.
var named = map[string]string{".wav": "WAV", ".ogg": "Ogg Opus", ".opus": "Ogg Opus", ".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG"}

func textEvents(first Event, b []byte) ([]Event, time.Time, error) {
	if i := invalidUTF8(b); i >= 0 {
		return nil, first.At, fmt.Errorf(": %w: offset %d: no WAV, Ogg Opus, PNG, JPEG, and no UTF-8 text", media.ErrFormat, i)
	}
	at := first.At
	var events []Event
	for i, line := range strings.Split(string(b), "\n") {
		if line = strings.TrimSpace(strings.TrimPrefix(line, "\ufeff")); line == "" {
			continue
		}
		e := first
		e.Kind, e.Line, e.At = memory.KindText, i+1, at
		e.Speaker, e.Text = splitSpeaker(line)
		if len(e.Text) > memory.MaxText {
			return nil, at, fmt.Errorf(":%d: %w: %d bytes, at most %d", e.Line, ErrInvalid, len(e.Text), memory.MaxText)
		}
		events = append(events, e)
		at = at.Add(Spacing)
	}
	return events, at, nil
}

// splitSpeaker splits "Ana: good morning". A speaker is one to three words that begin with neither
// a lower-case letter nor a digit; "note: call Ana" and "10:30 works" have none.
func splitSpeaker(line string) (speaker, text string) {
	name, rest, ok := strings.Cut(line, ":")
	if full, after, found := strings.Cut(line, ":"); found && (!ok || len(full) < len(name)) {
		name, rest, ok = full, after, true
	}
	words := strings.Fields(name)
	rest = strings.TrimSpace(rest)
	if !ok || rest == "" || len(words) < 1 || len(words) > 3 || strings.HasPrefix(rest, "//") {
		return "", line
	}
	small := func(w string) bool {
		return w[0] >= 'a' && w[0] <= 'z' || w[0] >= '0' && w[0] <= '9' || strings.ContainsAny(w, "\"“()[],;?!,。")
	}
	if slices.ContainsFunc(words, small) {
		return "", line
	}
	return strings.Join(words, " "), rest
}

// jsonl reads the day's format; the first line may be a day's header with the zone. Files are
// searched beside it.
func (r Replay) jsonl(path string, b []byte) ([]Event, error) {
	dir, zone := filepath.Dir(path), r.Zone
	if format := media.Sniff(b); format != media.Unknown {
		return nil, fmt.Errorf(":1: %w: want a JSON object on each line, have a %s file", ErrInvalid, strings.ToUpper(string(format)))
	}
	var events []Event
	for i, raw := range bytes.Split(bytes.TrimPrefix(b, []byte("\ufeff")), []byte("\n")) {
		n := i + 1
		if raw = bytes.TrimSpace(raw); len(raw) == 0 {
			continue
		}
		if raw[0] != '{' {
			return nil, fmt.Errorf(":%d: %w: want a JSON object on each line, have %.60q", n, ErrInvalid, raw)
		}
		var h header
		if n == 1 && decodeStrict(raw, &h) == nil && h.Kind == "day" {
			if _, err := time.LoadLocation(h.Zone); err != nil {
				return nil, fmt.Errorf(":1: %w: %v", ErrInvalid, err)
			}
			zone = h.Zone
			continue
		}
		l, err := parseLine(raw)
		if err != nil {
			return nil, fmt.Errorf(":%d: %w: %w", n, ErrInvalid, err)
		}
		l.Number = n
		var file []byte
		if l.File != "" {
			if file, err = os.ReadFile(filepath.Join(dir, filepath.FromSlash(l.File))); err != nil {
				return nil, fmt.Errorf(":%d: %w", n, err)
			}
		}
		es, err := l.events(file, zone)
		if err != nil {
			return nil, fmt.Errorf(":%d: %w", n, err)
		}
		events = append(events, es...)
	}
	if len(events) == 0 {
		return nil, errors.New(": no lines")
	}
	return events, nil
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or of a NUL, or -1.
func invalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		c, n := utf8.DecodeRune(b[i:])
		if c == 0 || c == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}
