// Amazon's JavaScript client on an endpoint: makes a table, uses it, prints what it saw as JSON.
const {
  DynamoDBClient, CreateTableCommand, PutItemCommand, UpdateItemCommand, QueryCommand,
  BatchWriteItemCommand, TransactWriteItemsCommand, DeleteTableCommand, paginateScan,
  waitUntilTableExists, ConditionalCheckFailedException, TransactionCanceledException,
} = require('@aws-sdk/client-dynamodb')

const TableName = 'walk'
const client = new DynamoDBClient({
  endpoint: process.argv[2],
  region: 'eu-west-1',
  credentials: { accessKeyId: 'testing', secretAccessKey: 'testing' },
  maxAttempts: 1,
})

async function walk () {
  const seen = {}
  await client.send(new CreateTableCommand({
    TableName,
    KeySchema: [{ AttributeName: 'p', KeyType: 'HASH' }, { AttributeName: 's', KeyType: 'RANGE' }],
    AttributeDefinitions: [
      { AttributeName: 'p', AttributeType: 'S' }, { AttributeName: 's', AttributeType: 'N' },
    ],
    BillingMode: 'PAY_PER_REQUEST',
  }))
  await waitUntilTableExists({ client, maxWaitTime: 60 }, { TableName })
  const requests = Array.from({ length: 25 }, (_, n) => ({
    PutRequest: { Item: { p: { S: 'a' }, s: { N: String(n) }, b: { B: new Uint8Array([n]) } } },
  }))
  await client.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: requests } }))
  const found = await client.send(new QueryCommand({
    TableName,
    KeyConditionExpression: 'p = :p AND s >= :s',
    ExpressionAttributeValues: { ':p': { S: 'a' }, ':s': { N: '20' } },
    ReturnConsumedCapacity: 'TOTAL',
  }))
  seen.queried = found.Items.map((item) => [item.s.N, item.b.B[0]])
  seen.units = found.ConsumedCapacity.CapacityUnits
  const updated = await client.send(new UpdateItemCommand({
    TableName,
    Key: { p: { S: 'a' }, s: { N: '0' } },
    UpdateExpression: 'ADD n :n',
    ExpressionAttributeValues: { ':n': { N: '5' } },
    ReturnValues: 'UPDATED_NEW',
  }))
  seen.updated = updated.Attributes
  seen.scanned = 0
  for await (const page of paginateScan({ client, pageSize: 10 }, { TableName })) {
    seen.scanned += page.Count
  }
  try {
    await client.send(new PutItemCommand({
      TableName,
      Item: { p: { S: 'a' }, s: { N: '1' } },
      ConditionExpression: 'attribute_not_exists(p)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    }))
  } catch (error) {
    seen.failed = error instanceof ConditionalCheckFailedException && error.Item.s.N
  }
  try {
    await client.send(new TransactWriteItemsCommand({
      TransactItems: [
        { Delete: { TableName, Key: { p: { S: 'a' }, s: { N: '2' } } } },
        {
          ConditionCheck: {
            TableName, Key: { p: { S: 'none' }, s: { N: '0' } },
            ConditionExpression: 'attribute_exists(p)',
          },
        },
      ],
    }))
  } catch (error) {
    seen.cancelled = error instanceof TransactionCanceledException &&
      error.CancellationReasons.map((reason) => reason.Code)
  }
  await client.send(new DeleteTableCommand({ TableName }))
  return seen
}

walk().then((seen) => console.log(JSON.stringify(seen)))
