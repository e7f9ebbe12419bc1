package result

import (
	"slices"
	"testing"

	"github.com/locket-dev/locket/internal/engine/speech"
	"github.com/locket-dev/locket/memory"
)

// An engine's names are kept if no voice is known; otherwise the speaker who says most is the known
// voice.
func TestSpeakers(t *testing.T) {
	src := &memory.Memory{}
	src.Evidence = []memory.Evidence{{Event: memory.EventID{Device: "pin", Boot: 1, Seq: 1}}}
	segments := []speech.Segment{{Speaker: "A", Text: "I am allergic to nuts."}, {Speaker: "B", Text: "Me too."}}
	if got := Speakers(src, segments); !slices.Equal(got, []string{"A", "B"}) {
		t.Errorf("%q", got)
	}
	src.Evidence[0].Speaker = "S1"
	if got := Speakers(src, segments); !slices.Equal(got, []string{"S1", "someone"}) {
		t.Errorf("%q", got)
	}
	if got := Speakers(src, []speech.Segment{{Text: "I am allergic to nuts."}}); !slices.Equal(got, []string{"S1"}) {
		t.Errorf("%q", got)
	}
}

// If only the known voice of a recording is kept, its transcript has nobody else's words.
func TestKnownVoice(t *testing.T) {
	src := &memory.Memory{}
	heard := func() *speech.Transcript {
		return &speech.Transcript{Text: "I am allergic to nuts. Me too. So no cake.", Segments: []speech.Segment{
			{Speaker: "A", Text: " I am allergic to nuts."}, {Speaker: "B", Text: " Me too."}, {Speaker: "A", Text: " So no cake."}}}
	}
	all := heard()
	if KnownVoice(src, all); len(all.Segments) != 3 || all.Text != heard().Text {
		t.Errorf("without the tag: %+v", all)
	}
	src.Tags = []string{"recording", memory.KnownVoiceTag}
	if KnownVoice(src, all); len(all.Segments) != 2 || all.Text != "I am allergic to nuts. So no cake." || Heard("ears", all).Text != all.Text {
		t.Errorf("%+v", all)
	}
	one := &speech.Transcript{Text: "I am allergic to nuts.", Segments: all.Segments[:1]}
	if KnownVoice(src, one); len(one.Segments) != 1 || one.Text != "I am allergic to nuts." {
		t.Errorf("of one voice: %+v", one)
	}
}
