// Package conllu reads treebanks of Universal Dependencies in CoNLL-U, and
// holds what a reader made of their text against them.
package conllu

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// Word is one word of a tree.
type Word struct {
	Form, Lemma, UPOS, XPOS string
	Head                    int // the index of its head, -1 for the root's
	Label                   string
	Joined                  bool // nothing stands between it and the next
}

// Sentence is a tree and the text that it is of.
type Sentence struct {
	Text  string
	Words []Word
}

// ReadFile reads a treebank; its name may end in .gz.
func ReadFile(name string) ([]Sentence, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		r = z
	}
	list, err := Read(r)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return list, nil
}

// Read reads a treebank. Labels lose no subtype; empty nodes are passed over.
func Read(r io.Reader) ([]Sentence, error) {
	var list []Sentence
	var s Sentence
	joinedUntil, lastJoined := 0, false // of a token of several words
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		if line == "" {
			if len(s.Words) > 0 {
				list = append(list, s)
			}
			s, joinedUntil = Sentence{}, 0
			continue
		}
		if text, ok := strings.CutPrefix(line, "# text = "); ok {
			s.Text = text
		}
		if line[0] == '#' {
			continue
		}
		col := strings.Split(line, "\t")
		if len(col) != 10 {
			return nil, fmt.Errorf("line %d has %d columns, not 10", n, len(col))
		}
		joined := strings.Contains(col[9], "SpaceAfter=No")
		if _, last, many := strings.Cut(col[0], "-"); many {
			joinedUntil, _ = strconv.Atoi(last)
			lastJoined = joined
			continue
		}
		if strings.Contains(col[0], ".") {
			continue
		}
		id, err := strconv.Atoi(col[0])
		if err != nil || id != len(s.Words)+1 {
			return nil, fmt.Errorf("line %d: %q is not the next word", n, col[0])
		}
		head, err := strconv.Atoi(col[6])
		if err != nil {
			return nil, fmt.Errorf("line %d: %q is not a head", n, col[6])
		}
		if id <= joinedUntil {
			joined = id < joinedUntil || lastJoined
		}
		s.Words = append(s.Words, Word{Form: col[1], Lemma: col[2], UPOS: col[3], XPOS: col[4], Head: head - 1, Label: col[7], Joined: joined})
	}
	if len(s.Words) > 0 {
		list = append(list, s)
	}
	if len(list) == 0 && lines.Err() == nil {
		return nil, errors.New("there is no sentence")
	}
	return list, lines.Err()
}

// Universal is a label without its subtype.
func Universal(label string) string {
	u, _, _ := strings.Cut(label, ":")
	return u
}
