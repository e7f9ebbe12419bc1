package memory

import "testing"

func TestSameValue(t *testing.T) {
	for _, same := range [][2]string{{"Shanghai", "上海"}, {"北京", "Peking"}, {"Ghent", "根特"}, {"New York", "NYC"}, {"blue", "Blue."}, {"李娜", "李 娜"}, {"Taipei", "臺北"}, {"花生醬", "花生酱"}, {"Zo\u00eb", "Zoe\u0308"}, {"Jos\u00e9 Nu\u00f1ez", "Jose\u0301 Nun\u0303ez"}} {
		if SameValue(same[0]) != SameValue(same[1]) {
			t.Errorf("%q and %q are two", same[0], same[1])
		}
	}
	for _, other := range [][2]string{{"Shanghai", "北京"}, {"in the drawer", "drawer"}, {"上海路", "Shanghai"}, {"Zo\u00eb", "Zoe"}, {"an na", "anna"}, {"李 Na", "李Na"}} {
		if SameValue(other[0]) == SameValue(other[1]) {
			t.Errorf("%q and %q are one", other[0], other[1])
		}
	}
	for zh, en := range exonyms {
		if Normal(zh) != zh || Normal(en) != en || exonyms[en] != "" {
			t.Errorf("%q: %q: not folded, or a chain", zh, en)
		}
	}
}
