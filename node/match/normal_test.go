package match

import "testing"

func TestNormal(t *testing.T) {
	for _, same := range [][]string{
		{"chess", "CHESS", " chess ", "ｃｈｅｓｓ", "chess\u200b", "\u00adchess", "che\u202ess", "\ufeffchess", "ches\u2060s", "chess\u3164"},
		{"Straße", "STRASSE", "STRAẞE", "strasse"},
		{"Πλάτων ο σοφός", "ΠΛΆΤΩΝ Ο ΣΟΦΌΣ"},
		{"café", "cafe\u0301", "CAFÉ", "cafe\u200b\u0301"},
		{"❤", "❤\ufe0f"},
	} {
		for _, s := range same {
			if normal(s) != normal(same[0]) {
				t.Errorf("%+q is %+q, and %+q is %+q", s, normal(s), same[0], normal(same[0]))
			}
		}
	}
	if normal("café") == normal("cafe") || normal("围棋") != "围棋" {
		t.Error("accents or Chinese were lost")
	}
}
