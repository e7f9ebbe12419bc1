package speech

import (
	"cmp"
	"context"
	"strings"
	"time"
	"unicode"
)

// Windows is an engine that passes long recordings to another engine in overlapping windows and
// joins the results. It is needed because engines take time and memory according to the length,
// services refuse large files, and when Whisper's decoder goes wrong, it stays wrong until the next
// window.
type Windows struct {
	Engine  Engine
	Window  time.Duration // 0: 1 min; shorter recordings are not divided
	Overlap time.Duration // overlap of a window with the next; 0: 4 s; less than half a window
}

// Name returns the engine's name.
func (w *Windows) Name() string { return w.Engine.Name() }

// Transcribe transcribes the recording window by window. If one window fails,
// all of it fails, because half a transcript could be taken for a whole one.
func (w *Windows) Transcribe(ctx context.Context, wav []byte, hint Hints) (Transcript, error) {
	sound, err := pcm(w.Name(), wav)
	if err != nil {
		return Transcript{}, err
	}
	window, overlap := w.Window, w.Overlap
	if window <= 0 {
		window = time.Minute
	}
	if overlap <= 0 {
		overlap = 4 * time.Second
	}
	overlap = min(overlap, window/2-time.Millisecond)
	size, step := bytesOf(window), bytesOf(window-overlap)
	// A last window that is shorter than an overlap would add nothing.
	if len(sound) <= size+bytesOf(overlap) {
		return w.Engine.Transcribe(ctx, wav, hint)
	}
	var all Transcript
	for from := 0; ; from += step {
		to := from + size
		last := to+bytesOf(overlap) >= len(sound)
		if last {
			to = len(sound)
		}
		part, err := w.Engine.Transcribe(ctx, plainWAV(sound[from:to]), hint)
		if err != nil {
			return Transcript{}, err
		}
		hint.Lang = cmp.Or(hint.Lang, part.Lang) // otherwise a window could be taken for another language
		at := lasting(from)
		shift(&part, at)
		if from == 0 {
			all = part
		} else {
			all = join(all, part, at+overlap/2, overlap)
		}
		if last {
			return checked(w.Name(), all)
		}
	}
}

func bytesOf(d time.Duration) int { return 2 * int(d*Rate/time.Second) }

func lasting(bytes int) time.Duration { return time.Duration(bytes/2) * time.Second / Rate }

func shift(t *Transcript, by time.Duration) {
	for i := range t.Segments {
		s := &t.Segments[i]
		s.From, s.To = s.From+by, s.To+by
		for j := range s.Words {
			s.Words[j].From += by
			s.Words[j].To += by
		}
	}
}

// join joins the transcripts of two windows, at a seam in the middle of their overlap. If the words
// of both have times, these decide; otherwise the longest run of words that the end of one and the
// beginning of the other share.
func join(a, b Transcript, seam, overlap time.Duration) Transcript {
	out := Transcript{Lang: a.Lang}
	out.Lang = cmp.Or(out.Lang, b.Lang)
	if timed(a) && timed(b) {
		out.Segments = append(before(a.Segments, seam), after(b.Segments, seam)...)
		dropTwin(&out, seam, overlap)
		var texts []string
		for _, s := range out.Segments {
			texts = append(texts, s.Text)
		}
		out.Text = strings.Join(texts, " ")
		return out
	}
	out.Text = joinTexts(a.Text, b.Text, overlap)
	for _, s := range a.Segments {
		if s.From < seam {
			s.To = min(s.To, max(seam, s.From))
			out.Segments = append(out.Segments, s)
		}
	}
	for _, s := range b.Segments {
		if s.To > seam {
			s.From = max(s.From, seam)
			out.Segments = append(out.Segments, s)
		}
	}
	return out
}

// timed reports whether the text of every segment is in words with times.
func timed(t Transcript) bool {
	for _, s := range t.Segments {
		if len(s.Words) == 0 || len(tokens(spoken(s.Words))) != len(tokens(s.Text)) {
			return false // an engine may have times for some of them only
		}
	}
	return len(t.Segments) > 0 || t.Text == ""
}

// before and after keep the words whose middle is on one side of the seam.
func before(list []Segment, seam time.Duration) (out []Segment) {
	return side(list, func(w Word) bool { return (w.From+w.To)/2 < seam })
}

func after(list []Segment, seam time.Duration) (out []Segment) {
	return side(list, func(w Word) bool { return (w.From+w.To)/2 >= seam })
}

func side(list []Segment, in func(Word) bool) (out []Segment) {
	for _, s := range list {
		var words []Word
		for _, w := range s.Words {
			if in(w) {
				words = append(words, w)
			}
		}
		if len(words) == len(s.Words) {
			out = append(out, s)
		} else if len(words) > 0 {
			s.Words = words
			s.From, s.To = words[0].From, words[len(words)-1].To
			s.Text = spoken(words)
			out = append(out, s)
		}
	}
	return out
}

// spoken returns the text of words. Whisper's begin with their space.
func spoken(words []Word) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 && !strings.HasPrefix(w.Text, " ") && !unspaced(words[i-1].Text) {
			b.WriteByte(' ')
		}
		b.WriteString(w.Text)
	}
	return strings.TrimSpace(b.String())
}

func unspaced(s string) bool {
	r := []rune(s)
	return len(r) > 0 && unicode.Is(unicode.Han, r[len(r)-1])
}

// dropTwin drops the second copy of a word that both windows have on their side of the seam, since
// engines differ about times by some tenths of a second.
func dropTwin(t *Transcript, seam, overlap time.Duration) {
	for i := 1; i < len(t.Segments); i++ {
		a, b := &t.Segments[i-1], &t.Segments[i]
		last, first := a.Words[len(a.Words)-1], b.Words[0]
		near := last.To > seam-overlap/2 && first.From < seam+overlap/2 && first.From-last.From < twinWithin
		if !near || !strings.EqualFold(trimPunctuation(last.Text), trimPunctuation(first.Text)) {
			continue
		}
		if b.Words = b.Words[1:]; len(b.Words) == 0 {
			t.Segments = append(t.Segments[:i], t.Segments[i+1:]...)
		} else {
			b.From, b.Text = b.Words[0].From, spoken(b.Words)
		}
		return
	}
}

// twinWithin is how far apart two windows may hear the same word begin; saying a word twice takes
// longer. Chosen by hand.
const twinWithin = 150 * time.Millisecond

func trimPunctuation(s string) string {
	return strings.TrimFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// token is a word, or a Chinese character, in a text.
type token struct {
	text string // lower case
	end  int    // byte behind it
}

func tokens(s string) (out []token) {
	start := -1
	flush := func(end int) {
		if start >= 0 {
			out = append(out, token{strings.ToLower(s[start:end]), end})
			start = -1
		}
	}
	for i, r := range s {
		switch {
		case unicode.Is(unicode.Han, r):
			flush(i)
			out = append(out, token{string(r), i + len(string(r))})
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '\'':
			if start < 0 {
				start = i
			}
		default:
			flush(i)
		}
	}
	flush(len(s))
	return out
}

// perSecond is the greatest number of words, or Chinese characters, that somebody says in a second;
// it limits the search for the overlap in the texts. Fast talkers: about 5 and 7.
const perSecond = 8

// joinTexts joins two texts; the end of one and the beginning of the other were heard in the same
// seconds of sound.
func joinTexts(a, b string, overlap time.Duration) string {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	n := int(overlap.Seconds()*perSecond) + 1
	end, begin := tokens(a), tokens(b)
	end, begin = end[max(0, len(end)-n):], begin[:min(len(begin), n)]
	// The longest run that both have; if there are several, the first in b, which cuts the least of
	// it.
	length, atA, atB := 0, 0, 0
	row := make([]int, len(begin)+1)
	for i := range end {
		diagonal := 0
		for j := range begin {
			next := row[j+1]
			row[j+1] = 0
			if end[i].text == begin[j].text {
				row[j+1] = diagonal + 1
			}
			if row[j+1] > length {
				length, atA, atB = row[j+1], i, j
			}
			diagonal = next
		}
	}
	// A single word may be shared by chance, unless it is where they meet.
	if length == 0 || length == 1 && !(atA == len(end)-1 && atB == 0) {
		return strings.TrimSpace(a + gap(a, b) + b)
	}
	head, tail := a[:end[atA].end], b[begin[atB].end:]
	return strings.TrimSpace(head + tail)
}

// gap returns what separates two texts.
func gap(a, b string) string {
	if unspaced(a) || b == "" {
		return ""
	}
	return " "
}
