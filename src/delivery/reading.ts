// What to read next: for up to two hundred lanes that want something, each of their queues from its position on.
import { concurrencyLimit, type Lane, type QueueName, wants } from './lane.ts'
import type { QueueRequest } from './queries.ts'

const lanesInOneRead = 200
const mostBuffered = 100

export interface Reading extends QueueRequest {
  readonly lane: Lane
  readonly queue: QueueName
  readonly generation: number
}

// Takes the lanes off the list of the hungry.
export function nextReadings(hungry: Set<Lane>, nowMs: number): Reading[] {
  const readings: Reading[] = []
  for (const lane of hungry) {
    if (readings.length >= lanesInOneRead) break
    hungry.delete(lane)
    const take = Math.min(mostBuffered, 2 * concurrencyLimit(lane))
    const { id: subscriptionId, generation } = lane
    for (const queue of wants(lane, nowMs)) {
      readings.push({ lane, generation, subscriptionId, queue, position: lane.queues[queue].position, take })
    }
  }
  return readings
}
