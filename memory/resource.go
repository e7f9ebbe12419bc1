package memory

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// RulesTag marks what the wearer said about the memory system itself: who may see what. Such a
// memory is not given to anybody else, and a search does not find it.
const RulesTag = "locket:rules"

// WaitingTag marks a recording that nobody here could transcribe yet. A search does not find it
// until it is transcribed.
const WaitingTag = "waiting"

// KnownVoiceTag marks a recording of which only the words of known voices are kept, because
// voices.known_only was set when it was made.
const KnownVoiceTag = "known-voice"

// ResourceFields are the fields of a document or picture.
type ResourceFields struct {
	Title     string  `json:"title"`
	MediaType string  `json:"media_type"`
	Content   string  `json:"content,omitempty"`
	Blob      string  `json:"blob,omitempty"` // name of the sealed blob
	Hash      string  `json:"hash,omitempty"` // perceptual hash, 16 hexadecimal characters
	Sharpness float64 `json:"sharpness,omitempty"`
}

// MaxContent is how many bytes of text a resource may hold.
const MaxContent = 512 << 10

func (f *ResourceFields) validate() error {
	if f == nil || f.MediaType == "" {
		return wrong("resource.media_type", "needed")
	}
	if kind, sub, ok := strings.Cut(f.MediaType, "/"); !ok || kind == "" || sub == "" {
		return wrong("resource.media_type", "%q, want such as text/markdown", f.MediaType)
	}
	if err := checkText("fields.resource.content", f.Content, MaxContent); err != nil {
		return err
	}
	return checkText("fields.resource.title", f.Title, MaxText)
}

// Chunk is a piece of a resource's content: its bytes from Start to End.
type Chunk struct {
	Number int    `json:"number"` // counted from 1
	Of     int    `json:"of"`     // how many there are
	Start  int    `json:"start"`
	End    int    `json:"end"`
	Text   string `json:"text"`
}

// Content of more than chunkOver characters is cut; a chunk has at most chunkSize characters, some
// two hundred words, which a person reads at a glance. There are never more than MaxChunks: the
// chunks grow instead.
const (
	chunkSize = 1200
	chunkOver = 1800
	MaxChunks = 512
)

// Chunks cuts the content at the end of a paragraph, or, if that makes a chunk too long, of a
// sentence or a word. The chunks cover the content without a gap. It returns nil if the content is
// short enough to be read as a whole.
func (f *ResourceFields) Chunks() []Chunk {
	n := utf8.RuneCountInString(f.Content)
	if n <= chunkOver {
		return nil
	}
	size := max(chunkSize, n/(MaxChunks/2)) // a cut falls in the second half of its chunk at the earliest
	var out []Chunk
	for at := 0; at < len(f.Content); {
		end := at + cutAt(f.Content[at:], size)
		out = append(out, Chunk{Number: len(out) + 1, Start: at, End: end, Text: f.Content[at:end]})
		at = end
	}
	for i := range out {
		out[i].Of = len(out)
	}
	return out
}

// cutAt returns how many bytes of s a chunk of at most size characters takes. It cuts at the last
// end of a paragraph in the chunk's second half, else of a line, a sentence, a word, else after
// size characters.
func cutAt(s string, size int) int {
	var best [4]int // indexed by the rank of the boundary
	count, before := 0, rune(0)
	for i, r := range s {
		if count >= size/2 && i > 0 {
			switch {
			case before == '\n' && r == '\n':
			case before == '\n' && strings.HasSuffix(s[:i], "\n\n"):
				best[0] = i
			case before == '\n':
				best[1] = i
			case strings.ContainsRune("。！？", before), unicode.IsSpace(before) && endsSentence(s[:i]):
				best[2] = i
			case unicode.IsSpace(before) && !unicode.IsSpace(r):
				best[3] = i
			}
		}
		if count == size {
			for _, b := range best {
				if b > 0 {
					return b
				}
			}
			return i
		}
		count, before = count+1, r
	}
	return len(s)
}

// endsSentence reports whether the text before a space ends a sentence.
func endsSentence(s string) bool {
	s = strings.TrimRight(strings.TrimRightFunc(s, unicode.IsSpace), `"')]”’`)
	return s != "" && strings.ContainsRune(".!?", rune(s[len(s)-1]))
}
