package recall

import "testing"

func TestTextNamesAPlace(t *testing.T) {
	for text, want := range map[string]bool{
		"He's on Huaihai Road, above the pharmacy.":      true,
		"We met in Ghent on Thursday.":                   true,
		"The key is in the drawer.":                      true,
		"No need, they moved it. It's on Thursday now.":  false,
		"The course begins in March.":                    false,
		"On Monday at noon, then.":                       false,
		"护照放在抽屉里。":                                       true,
		"我在星期四见他。":                                       false,
		"She was born in May 1990 and lives in Antwerp.": true,
	} {
		if got := prepare(Doc{Text: text, At: june}).flags&flagPlace != 0; got != want {
			t.Errorf("%q: says where %v, want %v", text, got, want)
		}
	}
}
