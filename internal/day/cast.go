package day

// The pools from which a day's people and places are drawn. All persons are made up; the cities are
// real.

var givenNames = []string{
	"Amara", "Anouk", "Arjun", "Aoife", "Beatriz", "Bjorn", "Callum", "Chiara", "Chidi", "Dalia", "Dmitri", "Elif", "Emeka",
	"Esther", "Farah", "Felix", "Freya", "Gabriel", "Hana", "Hugo", "Imani", "Ines", "Ivan", "Jonas", "Kaito", "Katarzyna",
	"Kofi", "Lars", "Leila", "Lucia", "Magnus", "Marek", "Mariam", "Matteo", "Mina", "Nadia", "Niamh", "Noor", "Olga", "Omar",
	"Paulo", "Petra", "Ravi", "Rosa", "Samir", "Sanna", "Sofia", "Tariq", "Thandi", "Tobias", "Uma", "Viktor", "Wanjiru",
	"Yara", "Yuki", "Zanele", "Zoltan",
}

var titledNames = []string{
	"Mrs. Adeyemi", "Mr. Bianchi", "Mrs. Castellanos", "Mr. Dlamini", "Mrs. Eriksen", "Mr. Fujita", "Mrs. Gonzalez",
	"Mr. Hussein", "Mrs. Ivanova", "Mr. Jankowski", "Mrs. Kowalczyk", "Mr. Lefebvre", "Mrs. Mbeki", "Mr. Nakamura",
	"Mrs. O'Brien", "Mr. Pereira", "Mrs. Rahman", "Mr. Schneider", "Mrs. Takahashi", "Mr. Yilmaz",
}

var doctorNames = []string{
	"Dr. Abara", "Dr. Bergström", "Dr. Chaudhry", "Dr. Dufour", "Dr. Ekholm", "Dr. Farkas", "Dr. Haas", "Dr. Iyer",
	"Dr. Kimura", "Dr. Lindner", "Dr. Moreau", "Dr. Novak", "Dr. Okonkwo", "Dr. Petrov",
}

var hanFriends = []string{"小雨", "阿杰", "晓彤", "志强", "雅婷", "子涵", "小慧", "建国", "思远", "美玲", "浩然", "静怡"}

var hanDrivers = []string{"张师傅", "刘师傅", "陈师傅", "赵师傅", "孙师傅", "周师傅", "吴师傅"}

var hanKeepers = []string{"王阿姨", "李叔", "陈阿姨", "老徐", "林姐", "黄叔", "郑阿姨"}

var petNames = []string{"团子", "豆包", "煤球", "年糕", "布丁", "毛毛", "可乐", "小白", "汤圆", "芝麻"}

var streets = []string{
	"Harbour Street", "Mill Lane", "Station Road", "Linden Avenue", "Market Square", "Orchard Street", "Bridge Street",
	"Cathedral Row", "Garden Road", "Museum Street", "Canal Street", "Observatory Hill",
}

var firms = []string{
	"Alder Robotics", "Brightwater Labs", "Copperfield Media", "Delphi Grid", "Emberline", "Fathom Maps", "Greywacke",
	"Halcyon Foods", "Inkstone", "Juniper Freight", "Kittiwake Energy", "Larkspur Health", "Meridian Optics", "Northlight",
	"Osprey Insurance", "Pinecone Software",
}

// city is a place where somebody lives or stays.
type city struct {
	name, han string
	zone      string
	lat, lon  float64 // its centre, degrees
}

var cities = []city{
	{"Berlin", "柏林", "Europe/Berlin", 52.517, 13.389},
	{"Lisbon", "里斯本", "Europe/Lisbon", 38.708, -9.137},
	{"Dublin", "都柏林", "Europe/Dublin", 53.350, -6.260},
	{"Warsaw", "华沙", "Europe/Warsaw", 52.232, 21.007},
	{"Oslo", "奥斯陆", "Europe/Oslo", 59.913, 10.739},
	{"Toronto", "多伦多", "America/Toronto", 43.653, -79.384},
	{"Vancouver", "温哥华", "America/Vancouver", 49.261, -123.114},
	{"Chicago", "芝加哥", "America/Chicago", 41.876, -87.624},
	{"Nairobi", "内罗毕", "Africa/Nairobi", -1.283, 36.817},
	{"Cape Town", "开普敦", "Africa/Johannesburg", -33.929, 18.417},
	{"Singapore", "新加坡", "Asia/Singapore", 1.290, 103.852},
	{"Taipei", "台北", "Asia/Taipei", 25.038, 121.564},
	{"Shanghai", "上海", "Asia/Shanghai", 31.232, 121.469},
	{"Beijing", "北京", "Asia/Shanghai", 39.906, 116.391},
	{"Shenzhen", "深圳", "Asia/Shanghai", 22.545, 114.055},
	{"Chengdu", "成都", "Asia/Shanghai", 30.660, 104.063},
	{"Kyoto", "京都", "Asia/Tokyo", 35.011, 135.768},
	{"Melbourne", "墨尔本", "Australia/Melbourne", -37.814, 144.963},
	{"Auckland", "奥克兰", "Pacific/Auckland", -36.852, 174.763},
	{"Mumbai", "孟买", "Asia/Kolkata", 19.076, 72.878},
}

// cast is the people and things of a day. All people have different names.
type cast struct {
	wearer, partner, anna, ben    string // anna and ben are colleagues
	relative, child, receptionist string
	neighbour, bookseller, doctor string
	friend, driver, keeper, pet   string // Chinese
	street                        string
	oldHome, newHome              city
	far, far2, far3               city // where others travel
	oldFirm, newFirm, client      string
}

func (m *maker) drawCast() cast {
	given := m.several(givenNames, 7)
	titled := m.several(titledNames, 2)
	firm := m.several(firms, 3)
	perm := m.rng.Perm(len(cities))
	return cast{
		wearer: given[0], partner: given[1], anna: given[2], ben: given[3],
		relative: given[4], child: given[5], receptionist: given[6],
		neighbour: titled[0], bookseller: titled[1], doctor: m.one(doctorNames),
		friend: m.one(hanFriends), driver: m.one(hanDrivers), keeper: m.one(hanKeepers), pet: m.one(petNames),
		street:  m.one(streets),
		oldHome: cities[perm[0]], newHome: cities[perm[1]],
		far: cities[perm[2]], far2: cities[perm[3]], far3: cities[perm[4]],
		oldFirm: firm[0], newFirm: firm[1], client: firm[2],
	}
}

// pairs returns the cast's placeholders and their values, for a replacer.
func (c *cast) pairs() []string {
	return []string{
		"{wearer}", c.wearer, "{partner}", c.partner, "{anna}", c.anna, "{ben}", c.ben,
		"{relative}", c.relative, "{child}", c.child, "{receptionist}", c.receptionist,
		"{neighbour}", c.neighbour, "{bookseller}", c.bookseller, "{doctor}", c.doctor,
		"{friend}", c.friend, "{driver}", c.driver, "{keeper}", c.keeper, "{pet}", c.pet,
		"{street}", c.street, "{far}", c.far.name, "{far2}", c.far2.name, "{farhan}", c.far3.han,
		"{oldhome}", c.oldHome.name, "{oldhan}", c.oldHome.han, "{newhome}", c.newHome.name, "{newhan}", c.newHome.han,
		"{oldfirm}", c.oldFirm, "{newfirm}", c.newFirm, "{client}", c.client,
	}
}
