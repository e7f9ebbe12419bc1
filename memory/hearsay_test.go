package memory

import "testing"

func TestHearsayWithoutASlot(t *testing.T) {
	of := func(t Type, subject string) *Candidate {
		c := &Candidate{Type: t, Negates: true}
		if t == Semantic {
			c.Fields.Semantic = &SemanticFields{Subject: subject}
		}
		return c
	}
	for _, tt := range []struct {
		c       *Candidate
		speaker string
		want    bool
	}{
		{of(Semantic, "Grace"), "Grace", false},
		{of(Semantic, "Grace's car"), "Grace", false},
		{of(Semantic, "Ana"), "Grace", true},
		{of(Semantic, ""), "Grace", true},
		{of(Semantic, "Ana"), "Ana", false},
		{of(Episodic, ""), "Grace", false},
		{of(Episodic, ""), "S1-a41f", true},
		{&Candidate{Type: Semantic}, "S1-a41f", false},
	} {
		if got := Hearsay(tt.c, tt.speaker, "Ana"); got != tt.want {
			t.Errorf("%s of %+v by %s: %t", tt.c.Type, tt.c.Fields.Semantic, tt.speaker, got)
		}
	}
}
