package extract

import (
	"slices"
	"testing"

	"github.com/locket-dev/locket/memory"
	"github.com/locket-dev/locket/wasm/abi"
)

// A candidate's kind is one of its tags, once.
func TestKindIsATagOnce(t *testing.T) {
	x := &Extractor{cfg: Config{Owner: "ana"}}
	for _, tags := range [][]string{{"home"}, {"home", "residence"}, {"residence", "home"}} {
		out, _ := x.convert(&abi.Candidate{Type: "semantic", Text: "Ana lives in Ghent", Kind: "residence", Tags: tags}, []turn{{text: "I live in Ghent"}}, memory.Source{}, "en")
		if slices.Sort(out.Tags); !slices.Equal(out.Tags, []string{"home", "residence"}) {
			t.Errorf("%q of %q", out.Tags, tags)
		}
	}
}

// A plugin can't mark its candidate as hearsay, which would prevent it from ending anything.
func TestPluginsCannotTagHearsay(t *testing.T) {
	x := &Extractor{cfg: Config{Owner: "ana"}}
	for _, c := range []abi.Candidate{
		{Type: "semantic", Text: "Ana lives in Ghent", Tags: []string{"home", memory.HearsayTag, memory.HearsayTag}},
		{Type: "semantic", Text: "Ana lives in Ghent", Kind: memory.HearsayTag, Tags: []string{"home"}},
	} {
		given := slices.Clone(c.Tags)
		out, _ := x.convert(&c, []turn{{text: "I live in Ghent"}}, memory.Source{}, "en")
		if out.IsHearsay() || !slices.Equal(out.Tags, []string{"home"}) || !slices.Equal(c.Tags, given) {
			t.Errorf("%q of %q, which is now %q", out.Tags, given, c.Tags)
		}
	}
}
