// Chinese: see words.held.en.ts.

import type { enHeld } from "./words.held.en";

export const zhHeld: Record<keyof typeof enHeld, string> = {
  "where.title": "它在哪里", "where.thisDevice": "这台设备", "where.whole": "有全部内容。", "where.stub": "只有索引里的一条，以节省空间。需要时再从中继取回其余内容。", "where.said": "有：它自己说过与此有关的内容。", "where.offered": "全部内容已在中继上等它。是否取走，只有那台设备知道。",
  "where.part": "还没有全部内容。", "where.unknown": "这里不知道它是否有全部内容。", "where.sealed": "有全部内容（已加密），但无法读取。", "where.waits": "这里有 {n} 处改动还没有发出。", "where.heard": "最近一次听到它：{at}。", "where.relay": "中继", "where.alone": "只在这台设备上：没有设置中继，也没有其他设备。",
  "where.media.here": "照片或录音也在这里。", "where.media.held": "照片或录音只留在这台设备上：附近说过秘密。", "where.media.away": "照片或录音在别处，查看时再取。",
  "facts.as": "事实的显示方式", "facts.tree": "树状", "facts.list": "列表", "facts.you": "你", "facts.your": "你的{who}", "facts.of": "的", "facts.not": "并非：{what}", "facts.left": "还有 {n} 条：请用列表查看。", "facts.cold": "各类共有 {n} 条记忆不在这台设备上，未计入。", "facts.loose": "其他事实",
  "slot.home": "住处", "slot.origin": "来自", "slot.birthplace": "出生地", "slot.birthday": "生日", "slot.age": "年龄", "slot.name": "名字", "slot.languages": "语言", "slot.spouse": "配偶", "slot.partner": "伴侣", "slot.sister": "姐妹", "slot.brother": "兄弟", "slot.mother": "母亲", "slot.father": "父亲", "slot.son": "儿子", "slot.daughter": "女儿", "slot.child": "孩子", "slot.pet": "宠物", "slot.friend": "朋友", "slot.employer": "雇主", "slot.job": "职业", "slot.manager": "上司", "slot.school": "学校", "slot.studies": "专业", "slot.allergies": "过敏", "slot.diet": "饮食", "slot.condition": "疾病", "slot.medication": "药物", "slot.doctor": "医生", "slot.located": "所在", "slot.appointment": "预约", "slot.plan": "计划", "slot.promise": "承诺", "slot.meeting": "会面", "slot.likes": "喜欢", "slot.dislikes": "不喜欢", "slot.prefers": "偏爱", "slot.favourite": "最爱",
  "lost.times": "最近七天有 {n} 次丢失", "lost.more": "另有更早的 {n} 次", "lost.messages": "丢失 {n} 条消息", "lost.former": "已移除", "lost.some": "有内容丢失", "lost.pauses": "最近七天暂停 {n} 次", "lost.noPause": "最近七天没有暂停过。",
  "remedy.resume": "继续聆听", "remedy.syncNow": "立即同步", "remedy.retryParked": "让语言模型再试", "remedy.enablePlugin": "重新启用", "remedy.addDevice": "添加设备",
  "answer.uncited": "模型没有指出这出自你的哪条记忆。请看下面的内容。",
};
