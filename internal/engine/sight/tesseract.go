package sight

import (
	"cmp"
	"context"
	"errors"
	"image"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/locket-dev/locket/internal/engine"
)

// Tesseract runs the program of that name, 4 or later. The zero value works.
type Tesseract struct {
	Command engine.Command // Engine and Program are filled in if empty
	Langs   []string       // Tesseract's names; empty: eng and chi_sim. Those that are not installed are left out
	Mode    int            // page segmentation; 0: 3, fully automatic without orientation

	mu    sync.Mutex
	langs string // the installed ones of these, in the form of -l
}

const tesseract = "tesseract"

// Name is "tesseract".
func (t *Tesseract) Name() string { return tesseract }

func (t *Tesseract) command() engine.Command {
	c := t.Command
	c.Engine = cmp.Or(c.Engine, tesseract)
	c.Program = cmp.Or(c.Program, "tesseract")
	return c
}

// Languages returns which of the wanted languages are installed, and which are not. The error is a
// Fault of kind Missing if the program or all of them are missing.
func (t *Tesseract) Languages(ctx context.Context) (have, lack []string, err error) {
	c := t.command()
	out, err := c.Run(ctx, engine.Input{}, "--list-langs")
	if err != nil {
		return nil, nil, err
	}
	installed := strings.Fields(string(out))
	want := t.Langs
	if len(want) == 0 {
		want = []string{"eng", "chi_sim"}
	}
	for _, l := range want {
		if slices.Contains(installed, l) {
			have = append(have, l)
		} else {
			lack = append(lack, l)
		}
	}
	if len(have) == 0 {
		return nil, lack, engine.Faultf(tesseract, engine.Missing, "it has none of the languages %s", strings.Join(lack, ", "))
	}
	return have, lack, nil
}

func (t *Tesseract) languages(ctx context.Context) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.langs != "" {
		return t.langs, nil
	}
	have, _, err := t.Languages(ctx)
	if err != nil {
		return "", err
	}
	t.langs = strings.Join(have, "+")
	return t.langs, nil
}

// Read returns the text of a photo, which is empty if there is too little.
func (t *Tesseract) Read(ctx context.Context, photo []byte, hint Hints) (Page, error) {
	m, err := decode(tesseract, photo, hint.Turn)
	if err != nil {
		return Page{}, err
	}
	langs, err := t.languages(ctx)
	if err != nil {
		return Page{}, err
	}
	mode := cmp.Or(t.Mode, 3)
	c := t.command()
	out, err := c.Run(ctx, engine.Input{Stdin: pgm(m)}, "-", "-", "--psm", strconv.Itoa(mode), "-l", langs, "tsv")
	if f := (*engine.Fault)(nil); errors.As(err, &f) && f.Kind == engine.Crashed && strings.Contains(f.Detail, "Image too small") {
		return Page{Size: m.Rect.Size()}, nil
	}
	if err != nil {
		return Page{}, err
	}
	p, err := parseTSV(string(out))
	if err != nil {
		return Page{}, err
	}
	p.Size = m.Rect.Size()
	if !p.printed() {
		p.Blocks = nil
	}
	return p, nil
}

// The levels of a row.
const (
	levelBlock = "2"
	levelLine  = "4"
	levelWord  = "5"
)

// parseTSV reads Tesseract's TSV: level, page, block, paragraph, line, word,
// left, top, width, height, confidence (0 to 100, -1 for none), text.
func parseTSV(s string) (Page, error) {
	var p Page
	type word struct {
		text string
		conf float64
	}
	var words []word
	closeLine := func() {
		if len(words) == 0 {
			return
		}
		line := &p.Blocks[len(p.Blocks)-1].Lines[len(p.Blocks[len(p.Blocks)-1].Lines)-1]
		var sum, n float64
		for _, w := range words {
			line.Text = joined(line.Text, w.text)
			sum += w.conf * float64(len(w.text))
			n += float64(len(w.text))
		}
		line.Confidence = sum / n
		words = words[:0]
	}
	for row := range strings.Lines(s) {
		f := strings.Split(strings.TrimRight(row, "\r\n"), "\t")
		if len(f) < 11 || f[0] == "level" {
			continue
		}
		var n [10]int
		for i := range n {
			v, err := strconv.Atoi(f[i])
			if err != nil || v < 0 || v > math.MaxInt32 {
				return Page{}, engine.Faultf(tesseract, engine.Babbled, "a row that is not TSV of it")
			}
			n[i] = v
		}
		box := image.Rect(n[6], n[7], n[6]+n[8], n[7]+n[9])
		switch f[0] {
		case levelBlock:
			closeLine()
			p.Blocks = append(p.Blocks, Block{Box: box})
		case levelLine:
			closeLine()
			if len(p.Blocks) == 0 {
				return Page{}, engine.Faultf(tesseract, engine.Babbled, "a line outside of any block")
			}
			b := &p.Blocks[len(p.Blocks)-1]
			b.Lines = append(b.Lines, Line{Box: box})
		case levelWord:
			conf, err := strconv.ParseFloat(f[10], 64)
			if err != nil || len(p.Blocks) == 0 || len(p.Blocks[len(p.Blocks)-1].Lines) == 0 {
				return Page{}, engine.Faultf(tesseract, engine.Babbled, "a word outside of any line")
			}
			if len(f) < 12 {
				continue
			}
			text := strings.TrimSpace(strings.ToValidUTF8(f[11], ""))
			if conf /= 100; text != "" && conf >= leastWord && conf <= 1 {
				words = append(words, word{text, conf})
			}
		}
	}
	closeLine()
	p.keepConfident()
	return p, nil
}

// keepConfident drops the lines that were not read well, and empty blocks.
func (p *Page) keepConfident() {
	for i := range p.Blocks {
		b := &p.Blocks[i]
		b.Lines = slices.DeleteFunc(b.Lines, func(l Line) bool { return l.Text == "" || l.Confidence < leastLine })
	}
	p.Blocks = slices.DeleteFunc(p.Blocks, func(b Block) bool { return len(b.Lines) == 0 })
}

// joined appends a word to a line: with a space, except within Chinese, where Tesseract takes one
// or two characters for a word.
func joined(line, word string) string {
	if line == "" {
		return word
	}
	last, first := lastRune(line), firstRune(word)
	if wide(last) && wide(first) {
		return line + word
	}
	return line + " " + word
}
