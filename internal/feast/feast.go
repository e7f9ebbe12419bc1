// Package feast knows on which days feasts fall: those of the solar and the lunar calendar, and
// those that depend on Easter.
package feast

import (
	"slices"

	"github.com/locket-dev/locket/internal/calendar"
)

// Feast is a named day, or a named run of days.
type Feast struct {
	Words      string // its name in lower case, without 's: 国庆, 春节, "new year eve"
	month, day int    // its date; for a feast that is always on the same weekday the earliest one. Month 0: it moves
	weekday    int    // its weekday, 1 for Monday to 7; 0: any
	by         movable
	twelfth    int // its day in the twelfth month of the lunar year, before 春节; 0: it is not in that month
	later      int // this many days after that, or before if it is negative
	Days       int // number of its days, at least 1
	Main       int // which of them its name alone means, from 0: Christmas is three days, and the second is Christmas
}

// movable says on what a feast without a fixed date depends.
type movable int

// The lunar feasts are in the order of the table.
const (
	newYear movable = iota // 春节
	dragonBoat
	lovers
	midAutumn
	doubleNinth
	easter
	qingming // a solar term: the 4th or 5th of April between 2000 and 2099
	solstice // 冬至, another: the 21st or 22nd of December in those years
)

// All are the feasts that people speak of, a longer name before a shorter one that is its beginning.
var All = []Feast{
	{Words: "国庆", month: 10, day: 1, Days: 7}, {Words: "元旦", month: 1, day: 1, Days: 1}, {Words: "跨年", month: 12, day: 31, Days: 1},
	{Words: "平安夜", month: 12, day: 24, Days: 1}, {Words: "圣诞", month: 12, day: 25, Days: 1}, {Words: "情人节", month: 2, day: 14, Days: 1},
	{Words: "妇女节", month: 3, day: 8, Days: 1}, {Words: "五一", month: 5, day: 1, Days: 5}, {Words: "劳动节", month: 5, day: 1, Days: 5},
	{Words: "儿童节", month: 6, day: 1, Days: 1}, {Words: "教师节", month: 9, day: 10, Days: 1}, {Words: "万圣节", month: 10, day: 31, Days: 1},
	{Words: "双十一", month: 11, day: 11, Days: 1}, {Words: "双11", month: 11, day: 11, Days: 1}, {Words: "双十二", month: 12, day: 12, Days: 1},
	{Words: "六一儿童节", month: 6, day: 1, Days: 1}, {Words: "六一", month: 6, day: 1, Days: 1}, {Words: "十一", month: 10, day: 1, Days: 7},
	{Words: "清明", by: qingming, Days: 3}, {Words: "冬至", by: solstice, Days: 1},
	{Words: "除夕", later: -1, Days: 1}, {Words: "年三十", later: -1, Days: 1}, {Words: "春节", Days: 7}, {Words: "过年", Days: 7}, {Words: "大年初一", Days: 1}, {Words: "元宵", later: 14, Days: 1},
	{Words: "腊八", twelfth: 8, Days: 1}, {Words: "小年", twelfth: 23, Days: 2}, // the 23rd in the north, the 24th in the south
	{Words: "端午", by: dragonBoat, Days: 3}, {Words: "七夕", by: lovers, Days: 1}, {Words: "中秋", by: midAutumn, Days: 1}, {Words: "重阳", by: doubleNinth, Days: 1},
	{Words: "复活节", by: easter, Days: 1}, {Words: "感恩节", month: 11, day: 22, weekday: 4, Days: 1},
	{Words: "母亲节", month: 5, day: 8, weekday: 7, Days: 1}, {Words: "父亲节", month: 6, day: 15, weekday: 7, Days: 1},
	{Words: "暑假", month: 7, day: 1, Days: 62}, {Words: "寒假", later: -20, Days: 35}, // approximately: each place has its own

	{Words: "christmas eve", month: 12, day: 24, Days: 1}, {Words: "christmas day", month: 12, day: 25, Days: 1}, {Words: "christmas", month: 12, day: 24, Days: 3, Main: 1},
	{Words: "boxing day", month: 12, day: 26, Days: 1}, {Words: "new year eve", month: 12, day: 31, Days: 1}, {Words: "new year day", month: 1, day: 1, Days: 1}, {Words: "new year", month: 1, day: 1, later: -1, Days: 2, Main: 1},
	{Words: "between christmas and new year", month: 12, day: 27, Days: 5},
	{Words: "chinese new year", Days: 7}, {Words: "spring festival", Days: 7}, {Words: "dragon boat festival", by: dragonBoat, Days: 3}, {Words: "mid autumn", by: midAutumn, Days: 1},
	{Words: "valentine day", month: 2, day: 14, Days: 1}, {Words: "halloween", month: 10, day: 31, Days: 1},
	{Words: "good friday", by: easter, later: -2, Days: 1}, {Words: "easter sunday", by: easter, Days: 1}, {Words: "easter monday", by: easter, later: 1, Days: 1},
	{Words: "easter", by: easter, later: -2, Days: 4, Main: 2}, {Words: "whit monday", by: easter, later: 50, Days: 1}, {Words: "pentecost", by: easter, later: 49, Days: 2},
	{Words: "ash wednesday", by: easter, later: -46, Days: 1}, {Words: "shrove tuesday", by: easter, later: -47, Days: 1}, {Words: "pancake day", by: easter, later: -47, Days: 1},
	{Words: "thanksgiving", month: 11, day: 22, weekday: 4, Days: 1}, {Words: "black friday", month: 11, day: 22, weekday: 4, later: 1, Days: 1}, // those of the United States
	{Words: "mother day", month: 5, day: 8, weekday: 7, Days: 1}, {Words: "father day", month: 6, day: 15, weekday: 7, Days: 1}, // those of the United States, China and most of Europe
	{Words: "bonfire night", month: 11, day: 5, Days: 1}, {Words: "mothering sunday", by: easter, later: -21, Days: 1}, // British
}

// moon has the days of 春节, 端午, 七夕, 中秋 and 重阳, as month × 100 + day, from firstMoon on, from
// github.com/6tail/lunar-go 1.4.6.
var moon = [][5]int{
	{219, 620, 820, 927, 1021}, {208, 609, 809, 915, 1009}, {128, 530, 828, 1004, 1028}, {216, 618, 817, 924, 1017}, {205, 607, 807, 913, 1007},
	{125, 625, 825, 1001, 1025}, {212, 614, 814, 921, 1014}, {201, 603, 804, 910, 1004}, {122, 622, 822, 929, 1023}, {210, 610, 810, 917, 1011},
	{129, 531, 829, 1006, 1029}, {217, 619, 819, 925, 1018}, {206, 609, 808, 915, 1008}, {126, 528, 826, 1003, 1026}, {213, 616, 816, 922, 1016},
	{203, 605, 805, 912, 1005}, {123, 624, 824, 1001, 1024}, {211, 612, 812, 919, 1012}, {131, 601, 801, 908, 1001}, {219, 620, 820, 927, 1020},
	{208, 610, 810, 916, 1009}, {128, 530, 828, 1004, 1027}, {215, 618, 817, 924, 1017}, {204, 607, 807, 913, 1007}, {124, 527, 826, 1002, 1026},
	{212, 614, 814, 920, 1014},
}

const firstMoon = 2015

// shortTwelfth are the years before whose 春节 the twelfth month has 29 days, and not 30.
var shortTwelfth = [...]int{2016, 2022, 2025, 2026, 2027, 2028, 2029, 2031, 2032, 2039, 2040}

// Named returns the feast with this name; nil: there is none.
func Named(words string) *Feast {
	for i := range All {
		if All[i].Words == words {
			return &All[i]
		}
	}
	return nil
}

// In returns the days of a feast in a year from 1900 on, as [calendar.Yearly]; false: they are not known.
func (f *Feast) In(year int) (first, last int, ok bool) {
	month, day := f.month, f.day
	switch {
	case f.weekday > 0:
		day += (f.weekday - calendar.Weekday(calendar.Day(year, month, day)) + 7) % 7
	case month > 0:
	case f.by == easter:
		month, day = easterSunday(year)
	case f.by == qingming:
		month, day = 4, (year%100*2422+48100)/10000-year%100/4
	case f.by == solstice:
		month, day = 12, (year%100*2422+219400)/10000-year%100/4
		if year == 2021 { // the rule's one exception
			day--
		}
	case year < firstMoon || year >= firstMoon+len(moon):
		return 0, 0, false
	default:
		at := moon[year-firstMoon][f.by]
		month, day = at/100, at%100
		if f.twelfth > 0 {
			day -= 31 - f.twelfth
			if slices.Contains(shortTwelfth[:], year) {
				day++
			}
		}
	}
	first = calendar.Day(year, month, day+f.later)
	return first, first + f.Days - 1, true
}

// Alone returns the days that its name alone means: the one day of Christmas.
func (f *Feast) Alone(year int) (first, last int, ok bool) {
	first, _, ok = f.In(year)
	return first + f.Main, first + f.Main, ok
}

// Moon reports whether it depends on the lunar calendar.
func (f *Feast) Moon() bool { return f.month == 0 && f.by < easter }

// easterSunday is Easter of the Gregorian calendar (the anonymous algorithm, Nature, 20 April 1876).
func easterSunday(y int) (month, day int) {
	a, b, c := y%19, y/100, y%100
	h := (19*a + b - b/4 - (b-(b+8)/25+1)/3 + 15) % 30
	l := (32 + 2*(b%4) + 2*(c/4) - h - c%4) % 7
	n := h + l - 7*((a+11*h+22*l)/451) + 114
	return n / 31, n%31 + 1
}
