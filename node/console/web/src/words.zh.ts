// 中文。

import type { Word } from "./i18n";

export const zh: Record<Word, string> = {
  "nav.label": "页面", "nav.today": "今天", "nav.ask": "提问", "nav.memories": "记忆", "nav.graph": "人物", "nav.review": "待确认", "nav.devices": "设备",
  skip: "跳到正文", wait: "请稍候…", more: "显示更多", close: "关闭", cancel: "取消", undo: "撤销", copy: "复制", copied: "已复制。", copyFailed: "浏览器不允许复制。",

  "time.seconds": "{n} 秒", "time.minutes": "{n} 分钟", "time.hours": "{n} 小时", "time.hoursMinutes": "{h} 小时 {m} 分钟",

  "error.unreachable": "Locket 没有回应。如果它已锁定或停止，请启动它，然后重新打开控制台。",
  "error.locked": "Locket 已锁定。", "error.failed": "没有成功。",
  "page.none": "没有这个页面",

  "door.none": "请在自己的电脑上打开控制台", "door.ended": "会话已结束", "door.used": "链接已用过或已过期",
  "door.how": "没有你，谁也看不到你的记忆。请在运行 Locket 的电脑上输入：",
  "unlock.title": "Locket 已锁定", "unlock.says": "可穿戴设备发来的内容仍会加密保存。解锁后才能查看你的记忆。",
  "unlock.passphrase": "密码短语", "unlock.do": "解锁", "unlock.wrong": "密码短语不对。",

  "state.listening": "正在聆听", "state.paused": "已暂停", "state.pausedUntil": "暂停到 {at}", "state.away": "连接中断",
  "state.pinned": "已固定", "state.superseded": "后来有变", "state.repeated": "后来又说过", "state.archived": "已收起", "state.cold": "不在这台设备上",
  "pause.begin": "暂停一小时", "pause.end": "继续聆听", "pause.begun": "已暂停。设备发来的内容会被丢弃。", "pause.ended": "Locket 继续聆听。",

  "palette.title": "所有操作", "palette.button": "前往…", "palette.hint": "去某处、做某事，或直接提问",
  "act.yesterday": "昨天", "act.week": "本周", "act.year": "今年", "act.pause10": "暂停 10 分钟", "act.pause60": "暂停一小时", "act.pause": "暂停，直到我说继续",
  "act.forget10": "忘掉最近 10 分钟", "act.sync": "立即同步", "act.theme": "深色或浅色", "act.lang": "Switch to English (英文)", "act.lock": "锁定 Locket", "act.leave": "结束会话",
  "act.day": "前往 {day}", "act.ask": "提问：{text}",

  "day.summary": "{lines} 句话，{people} 个人，记住 {memories} 件事",
  "day.before": "前一天", "day.next": "后一天", "day.jump": "跳到某天", "day.week": "周", "day.year": "年", "day.last": "此后没有听到什么：这是最近的一天。", "day.strip": "本周，{month}", "day.count": "{n} 句", "day.cell": "{day}，{n} 句",
  "day.empty": "这一天什么也没听到", "day.emptyHow": "可能没有戴设备，或者听到的内容没有保留。",
  "day.filter": "只显示", "day.kept": "记住的内容", "day.quiet": "安静了 {long}", "day.paused": "{from} 到 {to} 暂停（{long}）", "day.pausedOn": "从 {from} 起暂停",
  "day.lost": "设备丢失了一些内容：", "day.more": "这一天的内容太多，一页显示不完。",
  "week.title": "{from} – {to}", "week.before": "上一周", "week.next": "下一周", "week.day": "日", "week.empty": "这一周什么也没听到", "week.last": "上次听到是 {day}",
  "year.summary": "{days} 天，{lines} 句话。", "year.empty": "这一年什么也没听到。", "year.fullest": "最多的是 {day}：{n} 句", "year.before": "上一年", "year.next": "下一年", "year.less": "少", "year.more": "多",
  "welcome.title": "Locket 已就绪，还没有听到什么", "welcome.says": "从这三件事开始。", "welcome.try": "告诉它一件事", "welcome.tryHow": "就像你亲口说的一样。你会看到它记住了什么。", "welcome.hint": "我的牙医是淮海路的韦伯医生。", "welcome.do": "说", "welcome.heard": "听到了。",
  "welcome.wearable": "让设备来听", "welcome.wearableHow": "眼镜、胸针或录音笔各有自己的凭据，之后每天会自动填满。", "welcome.ask": "提问", "welcome.askHow": "说过的事都可以用自己的话来问。不知道的，Locket 会直说。",
  "ribbon.label": "一天的时间条：点击某个时刻前往", "ribbon.kept": "有内容被记住", "ribbon.said": "谈话", "ribbon.photo": "照片",
  "speaker.none": "某人",
  "line.about": "关于这句话", "line.marked": "你按键标记了这里", "line.hear": "听这句话", "line.remembered": "从这句话记住的", "line.redacted": "这里有一个秘密，已移入保险库",
  "line.when": "时间", "line.where": "地点", "line.why": "为什么没有记住", "line.also": "其余", "line.nothingElse": "规则认识的都已记住。", "line.noReason": "没有保留原因。",
  "line.search": "查找类似", "line.forget": "忘掉这句…",
  "photo.title": "照片", "photo.at": "照片，{place}", "photo.gone": "这张照片已不再保留",
  "sound.play": "播放录音", "sound.stop": "停止", "sound.progress": "播放进度", "sound.none": "录音已不再保留。", "sound.length": "录音，{long}", "sound.title": "录音", "sound.waits": "等待转写",

  "refused.nothing": "没有规则认识的内容。", "refused.question": "是一个问题，本身没有陈述。", "refused.filler": "只有语气词。", "refused.greeting": "问候或客套。",
  "refused.command": "是在要求做某事。", "refused.boilerplate": "没有文字。", "refused.duplicate": "之前说过或拍过。", "refused.gap": "设备丢失了一些内容。",
  "refused.feedback": "说的是 Locket 本身。", "refused.invalid": "不符合规则。", "refused.uncertain": "不够确定。", "refused.private": "在私密区内。",
  "secret.password": "密码", "secret.pin": "PIN 码", "secret.secret": "秘密", "secret.token": "访问密钥", "secret.card": "卡号", "secret.key": "密钥", "secret.code": "代码", "secret.credential": "凭据", "secret.account": "账号",

  "forget.title": "永久忘记", "forget.says": "以下内容会从所有地方消失，无法撤销。", "forget.nothing": "这里没有可忘记的内容。",
  "forget.memories": "{n} 条记忆", "forget.lines": "{n} 句话", "forget.trimmed": "{n} 条记忆因有其他依据而保留", "forget.events": "还有 {n} 条收到的原始消息。",
  "forget.andMore": "还有 {n} 条", "forget.confirm": "永久忘记", "forget.done": "已忘记：{memories} 条记忆，{lines} 句话。",

  "ask.title": "你想知道什么？", "ask.hint": "什么时候看牙医？", "ask.do": "提问", "ask.ideas": "例如", "ask.recent": "刚才问过", "ask.idea1": "我现在住在哪里？", "ask.idea2": "小雨的猫叫什么？", "ask.idea3": "什么时候看牙医？",
  "filter.label": "缩小范围", "filter.memories": "只看记住的", "filter.utterances": "只看说过的", "filter.who": "说话人", "filter.onlyWho": "只看{who}说的",
  "asof.label": "截至", "asof.known": "按当时所知：", "asof.now": "今天",
  "answer.unknown": "我不知道", "answer.unknownThen": "{day} 时我还不知道", "answer.nearest": "你的记忆里没有答案。下面是最接近的内容，可能说的是别的事。", "answer.none": "你的记忆里没有相近的内容。",
  "answer.look": "浏览所有记忆", "answer.more": "还找到", "answer.near": "最接近的内容", "answer.cites": "答案的出处", "answer.model": "由 {model} 根据下面的内容作答。", "answer.trouble": "语言模型没有回答；以下是记忆本身的内容。",
  "answer.missing": "有 {n} 条在另一台设备上，现在联系不到。",
  "evidence.day": "查看当天", "hit.said": "原话", "hit.shared": "分享自", "hit.sharedUntil": "有效至 {day}", "hit.why": "为什么？", "hit.cold": "在另一台设备上，现在联系不到",
  "score.title": "为什么找到它",
  "score.bm25_match": "问题中的词", "score.string_match": "拼写", "score.lexicon_match": "相关用词", "score.speaker_match": "说话人", "score.time_match": "提到的时间", "score.entity_match": "提到的名字", "score.graph_match": "相关的名字",
  "score.context_match": "回答了别人的问题", "score.embedding_match": "含义", "score.rerank_match": "由模型判断", "score.when": "说明时间", "score.where": "说明地点", "score.length": "信息较多", "score.pinned": "你固定了它", "score.derived": "出自已列出的原话", "score.question": "本身是问题",

  "kinds.label": "记忆的种类", "kind.all": "全部", "kind.core": "关于你", "kind.semantic": "事实", "kind.episodic": "事件", "kind.procedural": "做法", "kind.resource": "照片和文件", "kind.vault": "秘密",
  "kind1.core": "关于你", "kind1.semantic": "事实", "kind1.episodic": "事件", "kind1.procedural": "做法", "kind1.resource": "照片或文件", "kind1.vault": "秘密",
  "about.all": "Locket 记住的一切，最新的在前。", "about.core": "助手始终记在心里的、关于你的内容。", "about.semantic": "事实：人、物、地点、喜好。", "about.episodic": "发生过的事和计划中的事。",
  "about.procedural": "事情怎么做，一步一步。", "about.resource": "眼镜看到的、录下的、你放进来的。", "about.vault": "说出口的密码和代码。它们不在别处，只在你要求时显示。",
  "categories.label": "类别", "categories.all": "所有类别", "states.label": "状态", "states.active": "现在如此", "states.superseded": "以前如此", "states.archived": "已收起",
  "list.empty": "这里还没有内容", "list.emptyHow": "你说的和听到的会自动出现在这里。", "list.emptyCore": "告诉 Locket 你是谁：locket add --type core \"我是护士，喜欢简短的回答。\"", "list.cold": "还有 {n} 条不在这台设备上，提问时会找到。",
  "block.human": "你", "block.persona": "如何与你相处", "block.used": "{used} / {limit} 个字符",
  "category.personal_details": "个人信息", "category.family": "家庭", "category.friends": "朋友", "category.work": "工作", "category.education": "教育", "category.health": "健康", "category.food": "饮食", "category.travel": "出行", "category.sports": "运动",
  "category.music": "音乐", "category.entertainment": "娱乐", "category.hobbies": "爱好", "category.technology": "科技", "category.home": "家", "category.money": "钱", "category.plans": "计划", "category.preferences": "偏好", "category.misc": "其他",

  "vault.show": "显示", "vault.hide": "隐藏", "vault.left": "{n} 秒后自动隐藏", "vault.log": "查看记录", "vault.logEmpty": "还没有显示过任何秘密。", "vault.empty": "保险库是空的", "vault.emptyHow": "说出口的密码或代码会放到这里，并从其他地方去掉。", "vault.open": "打开保险库", "vault.do": "打开 5 分钟",

  "memory.actions": "可以做什么", "memory.steps": "步骤", "memory.content": "内容", "memory.evidence": "出处", "memory.noEvidence": "是你自己说的，没有其他依据。", "memory.changed": "变化", "memory.before": "之前", "memory.this": "这条", "memory.after": "之后", "memory.same": "说的一样", "memory.history": "历史",
  "do.pin": "固定", "do.unpin": "取消固定", "do.correct": "更正", "do.archive": "收起", "do.unarchive": "取出", "do.forget": "忘记…",
  "did.pinned": "已固定：机器不会再改动它。", "did.unpinned": "已取消固定。", "did.corrected": "已更正。以你说的为准。", "did.archived": "已收起。", "did.unarchived": "已取出。",
  "edit.text": "正确的说法", "edit.value": "具体是（{what}）", "edit.save": "保存", "edit.says": "你说的优先于机器听到的。",
  "fact.when": "时间", "fact.where": "地点", "fact.who": "人物", "fact.since": "开始于", "fact.until": "直到", "fact.names": "名字", "fact.heard": "听到", "fact.times": "{n} 次", "fact.sure": "确定", "fact.by": "来自", "fact.learnt": "得知于",
  "sure.high": "确定", "sure.some": "大致", "sure.low": "不太确定",
  "by.person": "你", "by.api": "你（通过程序）", "by.import": "导入", "by.facts": "事实", "by.plans": "计划", "by.howto": "做法", "by.secrets": "秘密", "by.speech": "声音", "by.scene": "相机", "by.language": "语言", "by.node": "Locket", "by.dream": "整理", "by.transcript": "转写",
  "change.ADD": "记住", "change.UPDATE": "更改", "change.DELETE": "结束", "change.NOOP": "又听到", "change.REFUSE": "未采纳",

  "graph.title": "人物、地点和事物", "graph.around": "{name} 周围", "graph.says": "你的记忆提到了谁和什么，以及其中的联系。用方向键在名字之间移动，按回车打开。", "graph.all": "全部", "graph.past": "包括已结束的",
  "graph.empty": "还没有名字", "graph.unknown": "没有叫 {name} 的", "graph.alone": "单独提到的", "graph.more": "还有更多名字；打开一个，画出它的周围。", "graph.panel": "打开的名字", "graph.choose": "选一个名字，看它与谁有联系，以及你从哪里知道的。",
  "graph.drawing": "名字及其联系", "graph.node": "{name}，{kind}，{n} 条记忆", "graph.in": "{n} 条记忆", "graph.aliases": "又名", "graph.only": "只画它的周围", "graph.ask": "搜索", "graph.with": "与之有联系", "graph.related": "明说的关系", "graph.beside": "一起提到",
  "graph.together": "一起提到 {n} 次", "graph.since": "从 {day} 起", "graph.until": "到 {day}", "entity.person": "人", "entity.place": "地点", "entity.thing": "事物", "entity.organisation": "机构", "entity.date": "日期",
  "relation.location": "放在", "relation.home": "住在", "relation.allergies": "过敏", "relation.diet": "饮食", "relation.likes": "喜欢", "relation.dislikes": "不喜欢", "relation.avoids": "不吃", "relation.birthday": "生日", "relation.sister of": "姐妹", "relation.brother of": "兄弟", "relation.daughter of": "女儿", "relation.son of": "儿子",

  "review.says": "等你决定的事。按键：", "review.conflicts": "互相矛盾的内容", "review.none": "没有矛盾。你和你的设备说法一致。", "review.settled": "已解决，所有设备都会更新。", "review.choose": "这个对", "review.both": "都对", "review.here": "这台设备", "review.other": "另一台设备",
  "conflict.field": "两台设备说法不同", "conflict.slot": "一个问题有两个答案", "conflict.pin": "听到的与你固定的不符",
  "dream.title": "整理", "dream.says": "Locket 可以合并重复的内容、收起过时的琐事、缩短写满的内容。你固定的或亲口说的不会被动，全部可以撤销。", "dream.look": "看看会做什么", "dream.apply": "执行 {n} 步", "dream.nothing": "没有需要整理的。", "dream.done": "完成：{n} 步。", "dream.into": "变为", "dream.hidden": "一个没有保护的秘密", "dream.claims": "{n} 处改动", "dream.undone": "已撤销",
  "dream.merge": "与另一条合并", "dream.archive": "收起", "dream.move": "移动", "dream.summarise": "总结", "dream.scrub": "移入保险库",

  "devices.says": "谁在发送，谁在保存，这台设备怎么样。", "tile.memories": "条记忆", "tile.lines": "句话", "tile.waiting": "条待处理", "tile.transcribe": "{n} 条等待转写", "tile.disk": "磁盘占用", "tile.free": "剩余 {size}",
  "wearables.title": "可穿戴设备", "wearables.none": "还没有设备在听。给你佩戴的设备起个名字，它就有自己的凭据。", "wearables.name": "设备的名字", "wearables.hint": "glasses", "wearables.add": "添加设备", "wearables.events": "{n} 条消息", "wearables.given": "{name} 的凭据", "wearables.once": "密码只显示这一次。请填入设备或它的网桥。", "wearables.url": "地址", "wearables.user": "用户名", "wearables.password": "密码", "wearables.client": "客户端 ID", "wearables.topics": "可用主题", "wearables.next": "连接后，它会出现在列表里。", "wearables.remove": "移除 {name}", "wearables.removeSays": "它的凭据失效，不能再连接。它发来的内容仍然记得。", "wearables.removeDo": "移除", "wearables.removed": "已移除。", "wearables.on": "已连接", "wearables.off": "不在线", "wearables.never": "从未听到", "wearables.broker": "它们连接到",
  "members.title": "你的其他设备", "members.here": "这一台", "role.owner": "你的", "role.worker": "助手", "role.reader": "读者", "role.device": "你的",
  "sync.none": "没有任何内容离开这台电脑：没有设置中继，也没有其他设备。", "sync.at": "同步于 {at}。", "sync.never": "还没有交换过。", "sync.pending": "{n} 处改动待发送", "sync.done": "已同步。",
  "plugins.title": "谁在听、谁在看", "plugins.on": "开", "plugins.off": "关", "plugins.blocks": "阻塞", "plugins.calls": "{n} 次",
  "doctor.title": "一切正常吗？", "doctor.says": "检查密钥、磁盘、存储和连接。", "doctor.look": "检查", "doctor.good": "一切正常：检查了 {n} 项。",
};
