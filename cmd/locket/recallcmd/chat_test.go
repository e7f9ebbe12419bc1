package recallcmd

import (
	"testing"
)

// TestUndoInChat distinguishes lines that undo the last line, lines that order more to be forgotten,
// and lines that are told like any other.
func TestUndoInChat(t *testing.T) {
	const undo, forget, tell = "undo", "forget", "tell"
	for line, want := range map[string]string{
		"undo": undo, "Forget that.": undo, "forget what I just said": undo, "Delete it": undo, "Scratch that": undo, "忘掉刚才说的": undo, "忘掉刚才说的吧": undo, "删了这条": undo, "撤销": undo,
		"Forget everything about Anna": forget, "Forget that Tom moved to Ghent.": forget, "Forget that Anna moved to Ghent.": forget, "Forget that I moved": forget, "Forget about Anna": forget,
		"forget my birthday": forget, "Delete what I said about Anna": forget, "忘掉关于安娜的一切": forget, "忘了所有的事": forget, "请忘了我的生日": forget,
		"忘了": tell, "忘了吧": tell, "忘了。": tell, "忘掉": tell, "Forget it.": tell, "forget it": tell,
		"Forget about the car, I sold it.": tell, "忘了我的钥匙在办公室": tell, "Delete the old photos by Friday": tell, "Delete my old photos by Friday": tell, "Delete all the old photos by Friday": tell,
	} {
		got := tell
		switch {
		case undoWords.MatchString(line):
			got = undo
		case forgetWords.MatchString(line):
			got = forget
		}
		if got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
}
