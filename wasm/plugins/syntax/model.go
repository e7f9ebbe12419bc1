package syntax

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/locket-dev/locket/wasm/plugins/syntax/greedy"
)

//go:embed weights/en.bin
var englishWeights string

//go:embed weights/zh.bin
var chineseWeights string

var (
	englishModel = sync.OnceValue(func() *Model { return mustOpen(englishWeights) })
	chineseModel = sync.OnceValue(func() *Model { return mustOpen(chineseWeights) })
)

// Model is all that was learnt of a language. Its file is
//
//	8      "locketrd"
//	1      version, 1
//	then 7 sections, each a length of 4 bytes, low byte first, and so many bytes:
//	       tags, a line each, UPOS and the treebank's own with a slash between
//	       labels, a line each; the first is the root's
//	       moves of the parser, two bytes each: kind, label
//	       weights of the tagger, as greedy.Weights has them
//	       weights of the parser
//	       weights of the segmenter, empty for English
//	       lemmas, a line each, empty for Chinese; see lemma.go
type Model struct {
	Tags, Labels        []string
	Moves               []greedy.Move
	Tag, Parse, Segment greedy.Weights
	Lemmas              string

	coarse  []uint8
	endings map[string]ending // of Lemmas
	once    sync.Once
}

const magic = "locketrd\x01"

const sections = 7

// EncodeModel writes a model's file.
func EncodeModel(tags, labels []string, moves []greedy.Move, tag, parse, segment []byte, lemmas string) []byte {
	list := make([]byte, 0, 2*len(moves))
	for _, m := range moves {
		list = append(list, byte(m.Kind), m.Label)
	}
	out := []byte(magic)
	for _, s := range [sections]string{strings.Join(tags, "\n"), strings.Join(labels, "\n"), string(list), string(tag), string(parse), string(segment), lemmas} {
		out = binary.LittleEndian.AppendUint32(out, uint32(len(s)))
		out = append(out, s...)
	}
	return out
}

// OpenModel reads a model's file, which it refers to from then on.
func OpenModel(file string) (*Model, error) {
	rest, ok := strings.CutPrefix(file, magic)
	if !ok {
		return nil, errors.New("this is no model of a reader")
	}
	var s [sections]string
	for i := range s {
		if len(rest) < 4 {
			return nil, errors.New("the model ends early")
		}
		n := binary.LittleEndian.Uint32([]byte(rest[:4]))
		if rest = rest[4:]; uint64(n) > uint64(len(rest)) {
			return nil, errors.New("the model ends early")
		}
		s[i], rest = rest[:n], rest[n:]
	}
	if rest != "" {
		return nil, errors.New("there is more after the model")
	}
	m := &Model{Tags: strings.Split(s[0], "\n"), Labels: strings.Split(s[1], "\n"), Lemmas: s[6]}
	coarse := map[string]uint8{}
	for _, tag := range m.Tags {
		u, _, _ := strings.Cut(tag, "/")
		if _, known := coarse[u]; !known {
			coarse[u] = uint8(len(coarse))
		}
		m.coarse = append(m.coarse, coarse[u])
	}
	for i := 0; i+1 < len(s[2]); i += 2 {
		move := greedy.Move{Kind: greedy.Kind(s[2][i]), Label: s[2][i+1]}
		if move.Kind > greedy.Right || int(move.Label) >= len(m.Labels) {
			return nil, fmt.Errorf("move %d of the model is none", i/2)
		}
		m.Moves = append(m.Moves, move)
	}
	var err error
	if m.Tag, err = greedy.OpenWeights(s[3], len(m.Tags)); err != nil {
		return nil, fmt.Errorf("tagger: %w", err)
	}
	if m.Parse, err = greedy.OpenWeights(s[4], len(m.Moves)); err != nil {
		return nil, fmt.Errorf("parser: %w", err)
	}
	if s[5] != "" {
		if m.Segment, err = greedy.OpenWeights(s[5], segmentTags); err != nil {
			return nil, fmt.Errorf("segmenter: %w", err)
		}
	}
	return m, nil
}

// mustOpen opens what is embedded: a test holds that it opens.
func mustOpen(file string) *Model {
	m, err := OpenModel(file)
	if err != nil {
		panic(err)
	}
	return m
}

// split gives the two parts of a tag.
func (m *Model) split(tag uint8) (upos, fine string) {
	upos, fine, ok := strings.Cut(m.Tags[tag], "/")
	if !ok {
		fine = upos
	}
	return upos, fine
}

// Coarse is the number of each tag's part of speech.
func (m *Model) Coarse() []uint8 { return m.coarse }
