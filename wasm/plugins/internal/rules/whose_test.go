package rules

import "testing"

// TestOrdinary uses talk that has nothing to keep: suppositions, quotations, films, what is true of
// anybody, words for a machine. The half with which the rules were corrected must give nothing; the
// other, which was frozen before, may give something for at most one line in twenty. Before the
// rules were corrected, it was one in eleven in both halves.
func TestOrdinary(t *testing.T) {
	for _, half := range []struct {
		file string
		held bool
	}{{"testdata/ordinary.txt", false}, {"testdata/ordinary_held.txt", true}} {
		said, kept := 0, 0
		for line := range lines(t, half.file) {
			said++
			out := hear(t, line)
			if len(out.Candidates) == 0 {
				continue
			}
			if kept++; !half.held {
				t.Errorf("%s: %q", line, out.Candidates[0].Text)
			}
		}
		t.Logf("%s: of %d of %d lines", half.file, kept, said)
		if kept*20 > said {
			t.Errorf("%s: of %d of %d lines something is kept", half.file, kept, said)
		}
	}
}

// TestWhose distinguishes what is nobody's own from what looks similar.
func TestWhose(t *testing.T) {
	for _, c := range []struct {
		line  string
		wants bool
	}{
		{"Translate this: my name is Hans and I come from Berlin.", false},
		{"Example sentence: my brother has two children.", false},
		{"A woman walks in and shouts, I live in Oslo.", false},
		{"Rumour has it that Tom bought a castle on Friday.", false},
		{"Whoever lives there must be rich.", false},
		{"Everyone who works at Google owns a bike.", false},
		{"The average person owns two cars.", false},
		{"Dear passengers, the train to Graz leaves at nine.", false},
		{"翻译一下：我叫汉斯，我来自柏林。", false},
		{"例句：我对花生过敏。", false},
		{"住在上海的人都知道地铁有多挤。", false},
		{"一般人家里都有两辆车。", false},
		{"据说小李住在成都。", false},
		{"各位顾客，本店十分钟后打烊。", false},
		{"Everyone at work gave me a cake yesterday.", true},
		{"I said to Tom yesterday, I live in Oslo.", true},
		{"My number: +49 170 1234567", true},
		{"有人昨天给我送了一束花。", true},
		{"我的同事都知道我对花生过敏。", true},
	} {
		if out := hear(t, c.line); (len(out.Candidates) > 0) != c.wants {
			t.Errorf("%s: %d memories", c.line, len(out.Candidates))
		}
	}
}
